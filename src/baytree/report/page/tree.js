// The drawing: branches from left to right, on narrow screens an outline; some of a large tree at a time.
const view = $("view"), mapView = $("map"), pen = document.createElement("canvas").getContext("2d");
const closed = new Set(), marked = new Set(), onPath = new Set();
let scale = 1, current = 0, top0 = 0, shown = [], place = new Map(), hits = [], hit = -1;
const MARGIN = 10, HEIGHT = 46;
const WIDE = { card: 186, leaf: 250, lead: 118, row: 56 }, NARROW_BELOW = 640, INDENT = 14;
const roomHigh = () => Math.max(0.72 * window.innerHeight, 416);  // as the style has it
const isNarrow = () => view.clientWidth < NARROW_BELOW;
const lightOf = (code) => `c${(two ? Number(code === positive) : code) % 8}`;  // the positive class in its own colour

function cut(text, width, font) {  // as much of a text as there is room for: names often differ at their end
  pen.font = font;
  if (pen.measureText(text).width <= width) return text;
  const end = text.slice(-7);
  let low = 0, high = text.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (pen.measureText(`${text.slice(0, middle)}…${end}`).width <= width) low = middle; else high = middle;
  }
  return `${text.slice(0, low)}…${end}`;
}
const BOLD = "600 13px system-ui, sans-serif", PLAIN = "12px system-ui, sans-serif", SMALL = "11.5px system-ui, sans-serif";
const line = (text, x, y, width, name, font) => make("text", { x, y, class: name }, cut(text, width, font));

function layOut() {
  const order = [], stack = [[top0, false]], narrow = isNarrow(), row = new Map();
  let next = 0;
  while (stack.length) {
    const [node, done] = stack.pop(), below = closed.has(node) ? [] : childrenOf(node);
    if (!done) order.push(node);
    if (narrow || !below.length) { if (!done) row.set(node, next++); } else if (done) row.set(node, (row.get(below[0]) + row.get(below[1])) / 2);
    if (!done && below.length) stack.push([node, true], [below[1], false], [below[0], false]);
  }
  shown = order;
  place = new Map(order.map((node) => {
    const depth = nodes[node].depth - nodes[top0].depth;
    if (narrow) {
      const x = MARGIN + depth * INDENT;
      return [node, { x, y: MARGIN + row.get(node) * 64, width: Math.max(150, view.clientWidth - 2 - x - MARGIN), height: 58 }];
    }
    const width = isLeaf(node) ? WIDE.leaf : WIDE.card;
    return [node, { x: MARGIN + depth * (WIDE.card + WIDE.lead), y: MARGIN + row.get(node) * WIDE.row, width, height: HEIGHT }];
  }));
}
function sizeOf() {
  const all = [...place.values()];
  return [Math.max(...all.map((own) => own.x + own.width)) + MARGIN, Math.max(...all.map((own) => own.y + own.height)) + MARGIN];
}
function draw() {
  layOut();
  const [width, height] = sizeOf(), narrow = isNarrow();
  const edges = make("g", { class: "edges", "aria-hidden": "true" });
  for (const node of shown) if (node !== top0) edges.append(...edgeTo(node, narrow));
  const svg = make("svg", { id: "drawing", role: "tree", "aria-label": "The decision tree", viewBox: `0 0 ${width} ${height}` }, edges,
    ...shown.map((node) => box(node, place.get(node), narrow)));
  const hadFocus = view.contains(document.activeElement);
  view.replaceChildren(svg);
  zoom(scale);
  drawMap();
  drawCrumbs();
  const drawn = shown.filter((node) => isLeaf(node)).length, all = leavesBelow[0];
  $("left-out").textContent = drawn < all ? `${counted(drawn)} of ${counted(all)} leaves are drawn. Click a branch to expand it; the tree as text and the rules show all leaves.` : "";
  if (hadFocus && $(`node-${current}`)) $(`node-${current}`).focus();
}
function edgeTo(node, narrow) {
  const from = place.get(parentOf[node]), to = place.get(node), on = onPath.has(node) ? "on" : "";
  if (narrow) {
    const x = from.x + INDENT / 2;
    return [make("path", { class: on, d: `M${x} ${from.y + from.height} V${to.y + to.height / 2} H${to.x}` })];
  }
  const y1 = from.y + from.height / 2, y2 = to.y + to.height / 2, x1 = from.x + from.width, x2 = to.x, bend = x1 + 14;
  const [condition, missing] = counting(signs(conditionOf(node)), node).split(/ or (?=[\d,]* ?missing$)/);
  const text = line(condition, bend + 6, y2 - 5, WIDE.lead - 24, "edge", SMALL);
  const below = missing ? [line(`or ${missing}`, bend + 6, y2 + 13, WIDE.lead - 24, "edge", SMALL)] : [];
  text.append(make("title", {}, `${nodes[parentOf[node]].feature} ${conditionOf(node)}`));
  return [make("path", { class: on, d: `M${x1} ${y1} H${bend} V${y2} H${x2}` }), text, ...below];
}
const signs = (text) => text.replaceAll("<= ", "≤ ");
const counting = (text, node) => {  // missing values with their number, on the side that they take
  const missing = nodes[parentOf[node]].missing;
  return missing && missing[0] !== null ? text.replace(/ or missing$/, ` or ${counted(missing[0])} missing`) : text;
};
const fitting = (texts, width, font) => {  // the first that there is room for
  pen.font = font;
  return texts.find((text) => pen.measureText(text).width <= width) ?? texts.at(-1);
};
const modelText = (node) => nodes[node].terms ? `model of ${countText(nodes[node].terms.length, "term")}` : "";
function says(node) {  // what a node tells first, and what more
  if (!model.classes) {
    const [, mean, low, high] = nodes[node].estimates[0];
    return [estimateText(mean), modelText(node) || (low === null ? "" : `mean ${estimateText(low)} to ${estimateText(high)}`)];
  }
  const p = probabilitiesOf(node), code = decide(p), name = decisionText(code);
  if (modelText(node)) return [name, modelText(node)];
  if (two) return [name, `${percentText(p[positive])} ${model.classes[positive]}`];
  return [name, `${percentText(p[code])} (${percentRange(classInterval(node, code))})`];
}
function box(node, { x, y, width, height }, narrow) {
  const own = nodes[node], leaf = isLeaf(node), [first, second] = says(node);
  const group = make("g", {
    role: "treeitem", id: `node-${node}`, "aria-level": own.depth + 1, tabindex: node === current ? 0 : -1, transform: `translate(${x} ${y})`,
    class: ["node", leaf && "leaf", closed.has(node) && "shut", marked.has(node) && "hit", onPath.has(node) && "on",
      onPath.size && !onPath.has(node) && "off"].filter(Boolean).join(" "),
    "aria-selected": node === current, "aria-expanded": leaf ? null : !closed.has(node), "aria-label": labelOf(node),
  });
  if (closed.has(node)) group.append(make("rect", { class: "card under", x: 4, y: 4, width, height, rx: 6 }));
  group.append(make("rect", { class: "card", width, height, rx: leaf ? 12 : 6 }));
  const up = narrow && node !== top0 ? 13 : 0, room = width - (leaf ? 88 : 18);
  if (up) group.append(line(counting(signs(`${nodes[parentOf[node]].feature} ${conditionOf(node)}`), node), 12, 15, width - 20, "edge", SMALL));
  if (leaf) group.append(stripe(node, height));
  if (leaf) {
    const rows = `n = ${counted(own.n)}`, title = line(first, 14, 19 + up, room - 12 - 7 * rows.length, "title", BOLD);
    title.append(make("tspan", { class: "soft", dx: 7 }, rows));
    group.append(title, line(second, 14, 36 + up, room - 6, "soft", PLAIN));
    const picture = pictureOf(node, 66, 30);
    if (picture) { picture.setAttribute("transform", `translate(${width - 76} ${8 + up / 2})`); group.append(picture); }
  } else {
    const rows = `n = ${counted(own.n)}`, odds = own.odds === "beyond doubt" ? own.odds : `odds ${own.odds}`;
    const more = closed.has(node) ? `▸ ${countText(leavesBelow[node], "leaf", "leaves")}, ${rows}`
      : fitting([`${rows}, ${odds}`, `${rows}, ${own.odds}`, odds, own.odds], width - 18, PLAIN);
    group.append(line(own.feature, 10, 19 + up, width - 18, "title", BOLD), line(more, 10, 36 + up, width - 18, "soft", PLAIN));
    if (closed.has(node)) group.append(...decisionBar(node, width, height));
  }
  group.append(make("title", {}, labelOf(node)));
  group.addEventListener("click", () => { choose(node); if (!leaf) toggle(node); });
  group.addEventListener("mouseenter", () => describe(node));
  group.addEventListener("focus", () => describe(node));
  return group;
}
function labelOf(node) {
  const own = nodes[node], condition = node === 0 ? "" : `${nodes[parentOf[node]].feature} ${conditionOf(node)}: `;
  return isLeaf(node) ? `${condition}${says(node).join(", ")}, n = ${counted(own.n)}` : `${condition}split by ${own.feature}, n = ${counted(own.n)}, odds ${own.exactOdds} against no split`;
}
function toneOf(node) {  // colour of the decision, stronger where it is more certain
  const sure = certaintyOf(node);
  if (model.classes) return [lightOf(decisionOf(node)), two ? 0.25 + 0.75 * Math.max(0, 2 * sure - 1) : 0.25 + 0.75 * sure];
  const [low, high] = model.range, middle = nodes[0].estimates[0][1], value = nodes[node].estimates[0][1];
  if (value === null || middle === null) return ["c7", 1];
  return [lightOf(decisionOf(node)), 0.25 + 0.75 * Math.min(1, Math.abs(value - middle) / Math.max(high - middle, middle - low))];
}
function stripe(node, height) {
  const [name, opacity] = toneOf(node);
  return make("rect", { class: name, x: 2, y: 6, width: 6, height: height - 12, rx: 3, opacity });
}
function pictureOf(node, width, height) {  // a density; of many classes a bar as long as the probability
  const own = nodes[node], [name] = toneOf(node), group = make("g", { "aria-hidden": "true" });
  const draws = (heights) => {
    const points = heights.map((h, i) => `${(i * width / (heights.length - 1)).toFixed(1)} ${(height - (height - 2) * h).toFixed(1)}`);
    group.append(make("path", { class: `curve ${name}`, d: `M0 ${height} L${points.join(" L")} L${width} ${height} Z` }),
      make("path", { class: "base", d: `M0 ${height} H${width}` }));
  };
  if (two) {
    const a = tree.posterior[node][positive], b = tree.posterior[node][other], grid = Array.from({ length: 49 }, (_, i) => (i + 0.25) / 48.5);
    const logs = grid.map((x) => (a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x)), most = Math.max(...logs);
    draws(logs.map((own) => Math.exp(own - most)));
    if (threshold !== null) group.append(make("path", { class: "mark-threshold", d: `M${threshold * width} 2 V${height + 3}` }));
  } else if (own.curve) draws(own.curve);
  else if (model.classes) {
    const p = Math.max(...probabilitiesOf(node));
    group.append(make("rect", { class: "rail", y: 4, width, height: 8, rx: 2 }), make("rect", { class: name, y: 4, width: Math.max(1, p * width), height: 8, rx: 2 }));
  } else return null;
  return group;
}
function decisionBar(node, width, height) {  // what the leaves below decide, by rows
  const rows = new Map();
  const stack = [node];
  while (stack.length) {
    const at = stack.pop();
    if (isLeaf(at)) rows.set(decisionOf(at), (rows.get(decisionOf(at)) || 0) + nodes[at].n); else stack.push(...childrenOf(at));
  }
  let x = 8;
  return [...rows].sort(([a], [b]) => a - b).map(([code, n]) => {
    const own = (width - 16) * n / nodes[node].n, part = make("rect", { class: lightOf(code), x, y: height - 6, width: own, height: 4 });
    x += own;
    return part;
  });
}

// What one node says in words.
const ruleTo = (node) => isLeaf(node) ? [...nodes[node].conditions.map(([feature, text]) => `${model.features[feature].name} ${text}`),
  ...nodes[node].planes.map(([plane, left]) => `${nodes[plane].feature} ${left ? nodes[plane].left : nodes[plane].right}`)]
  : pathTo(node).slice(1).map((child) => `${nodes[parentOf[child]].feature} ${conditionOf(child)}`);
function estimatesOf(node, most = 6) {
  if (!model.classes) return nodes[node].estimates.map(([name, estimate, low, high]) =>
    `${name}: ${estimateText(estimate)}${low === null ? "" : ` (90 % between ${estimateText(low)} and ${estimateText(high)})`}`);
  const p = probabilitiesOf(node), order = p.map((_, i) => i).sort((a, b) => p[b] - p[a]);
  const told = (two ? [positive] : order.slice(0, most)).map((i) => `${model.classes[i]}: ${percentText(p[i])} (90 % between ${percentRange(classInterval(node, i)).replace(" to ", " and ")})`);
  return order.length > most ? [...told, `${order.length - most} other classes`] : told;
}
function describe(node) {
  const own = nodes[node], parts = [], leaf = isLeaf(node), rule = ruleTo(node);
  parts.push(make("p", {}, make("strong", {}, leaf ? `Leaf ${node}: ${decisionText(decisionOf(node))}` : signs(`Split ${node}: ${own.question}?`)),
    ` ${countText(own.n, "training row")}.`));
  if (rule.length) parts.push(make("p", { id: "rule" }, signs(`If ${rule.join(" and ")}.`)));
  parts.push(make("p", {}, `${own.terms ? "On average: " : ""}${estimatesOf(node).join("; ")}.`));
  if (own.terms) parts.push(make("p", {}, `The ${modelText(node)} in this leaf, with 90 % intervals:`), make("pre", { id: "terms", tabindex: 0 }, own.terms.join("\n")));
  if (!leaf) {
    const others = own.others.map(([name, share]) => `${name} ${percentText(share)}`).join(", ");
    const odds = own.odds === own.exactOdds ? own.odds : `${own.odds}, ${own.exactOdds}`;
    parts.push(make("p", {}, `Odds of the split against no split: ${odds}.`));
    if (own.column !== null) parts.push(make("p", {}, `Probability of this column at this node: ${percentText(own.column)}. ` +
      (others ? `Other columns: ${others}.` : "Every other column has a probability below 0.05 %.")));
    if (own.missing) parts.push(make("p", {}, signs(`${own.missing[0] === null ? "Missing values" : `Missing values (${countText(own.missing[0], "training row")})`} ` +
      `follow the branch ${own.feature} ${(own.missing[1] ? own.left : own.right).replace(/ or missing$/, "")}.`)));
    if (node !== top0) {
      const button = make("button", { type: "button", id: "focus" }, "Show this branch alone");
      button.addEventListener("click", () => focusOn(node));
      parts.push(make("p", {}, button));
    }
  }
  $("detail").replaceChildren(...parts);
}
function choose(node, focus = false) {
  current = node;
  for (const element of view.querySelectorAll(".node")) {
    const isCurrent = element.id === `node-${node}`;
    element.setAttribute("tabindex", isCurrent ? 0 : -1);
    element.setAttribute("aria-selected", isCurrent);
  }
  if (focus) { $(`node-${node}`).focus({ preventScroll: true }); scrollTo(node); }
  describe(node);
}
function toggle(node) {
  if (isLeaf(node)) return;
  if (closed.has(node)) { closed.delete(node); childrenOf(node).forEach((child) => { if (!isLeaf(child)) closed.add(child); }); } else closed.add(node);
  draw();
  choose(node);
}
function scrollTo(node) {  // to the middle of the view; of a node that is larger than it, to its left edge
  const own = place.get(node);
  if (!own) return;
  const left = Math.min((own.x + own.width / 2) * scale - view.clientWidth / 2, own.x * scale - 8);
  view.scrollTo({ left, top: (own.y + own.height / 2) * scale - view.clientHeight / 2 });
}
function reveal(node) {  // open the way to a node and go there
  if (!pathTo(node).includes(top0)) top0 = 0;
  pathTo(node).slice(0, -1).forEach((above) => closed.delete(above));
  current = node;
  draw();
  scrollTo(node);
  describe(node);
}
function focusOn(node) {
  top0 = node;
  current = node;
  openToFit();
}
function drawCrumbs() {
  const path = pathTo(top0);
  $("crumbs").replaceChildren(...(top0 === 0 ? [] : path.map((node) => {
    const text = node === 0 ? "Whole tree" : `${nodes[parentOf[node]].feature} ${conditionOf(node)}`;
    const button = make("button", { type: "button" }, cut(text, 240, BOLD));
    if (node === top0) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => focusOn(node));
    return button;
  })));
}

// How much is open, and how large it is.
function openToFit(most = null) {  // open the largest branches, as long as all fits into the view
  const narrow = isNarrow(), least = 0.72;  // letters that can still be read
  const ends = most || (narrow ? 8 : Math.max(6, Math.floor(roomHigh() / (least * WIDE.row))));
  const columns = most || narrow ? 60 : Math.max(2, Math.floor((view.clientWidth / least - WIDE.leaf) / (WIDE.card + WIDE.lead)));
  closed.clear();
  nodes.forEach((_, node) => { if (!isLeaf(node)) closed.add(node); });
  const open = isLeaf(top0) ? [] : [top0];
  for (let n = 1; open.length && n < ends;) {
    open.sort((a, b) => nodes[b].n - nodes[a].n);
    const node = open.shift();
    if (nodes[node].depth - nodes[top0].depth >= columns) continue;
    closed.delete(node);
    n++;
    childrenOf(node).forEach((child) => { if (!isLeaf(child)) open.push(child); });
  }
  draw();
  fit();
}
function zoom(to) {
  scale = Math.min(3, Math.max(0.15, to));
  const [width, height] = sizeOf(), svg = $("drawing");
  svg.setAttribute("width", width * scale);
  svg.setAttribute("height", height * scale);
  $("zoom").textContent = `${Math.round(100 * scale)} %`;
}
function fit(least = 0.7) {  // no smaller than can be read, unless that is wished
  const [width, height] = sizeOf();
  zoom(isNarrow() ? 1 : Math.max(least, Math.min(1, (view.clientWidth - 2) / width, (roomHigh() - 4) / height)));
  view.scrollTo({ left: 0, top: 0 });
}
function setAll(isClosed) {
  closed.clear();
  if (isClosed) nodes.forEach((_, node) => { if (!isLeaf(node)) closed.add(node); });
  top0 = 0;
  current = 0;
  scale = 1;
  draw();
  scrollTo(0);
}
function drawMap() {  // the whole tree, small: what is drawn is strong, the way of a case is marked
  const tall = leavesBelow[0], deep = Math.max(...nodes.map((node) => node.depth)) + 1;
  mapView.hidden = tall < 9;
  if (mapView.hidden) return;
  const width = 132, height = Math.min(420, Math.max(120, tall * 6)), drawn = new Set(shown), rects = [];
  const first = new Map([[0, 0]]);
  nodes.forEach((own, node) => {
    const y = first.get(node);
    let at = y;
    childrenOf(node).forEach((child) => { first.set(child, at); at += leavesBelow[child]; });
    const leaf = isLeaf(node), step = width / deep;
    const rect = make("rect", {
      x: own.depth * step, y: y * height / tall, width: leaf ? width - own.depth * step : Math.max(1, step - 1),
      height: Math.max(0.8, leavesBelow[node] * height / tall - (leavesBelow[node] * height / tall > 3 ? 0.7 : 0)),
      class: [leaf ? toneOf(node)[0] : "stem", onPath.has(node) ? "on" : "", marked.has(node) ? "hit" : ""].join(" "), "data-node": node,
      opacity: drawn.has(node) ? (leaf ? toneOf(node)[1] : 1) : 0.25,
    });
    rects.push(rect);
  });
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Map of the whole tree" }, ...rects);
  svg.addEventListener("click", (event) => { if (event.target.dataset.node) reveal(Number(event.target.dataset.node)); });
  mapView.replaceChildren(make("p", { class: "soft" }, "Whole tree"), svg);
}
function drawLegend() {
  const names = model.classes ? model.classes.slice(0, 8).map((_, i) => [lightOf(i), decisionText(i)]) : [["c0", decisionText(0)], ["c1", decisionText(1)]];
  const items = names.map(([tone, name]) => make("span", {}, make("svg", { width: 14, height: 14, "aria-hidden": "true" },
    make("rect", { class: tone, width: 14, height: 14, rx: 3 })), ` ${name}`));
  const more = model.classes && model.classes.length > 8 ? [make("span", {}, `and ${model.classes.length - 8} more in repeated colours`)] : [];
  const note = model.classes ? "Colour: prediction of a leaf; paler colours are less certain." : "Colour: above or below the overall mean; paler colours are nearer to it.";
  $("legend").replaceChildren(...items, ...more, make("span", { class: "soft" }, note));
}

view.addEventListener("keydown", (event) => {
  const below = closed.has(current) ? [] : childrenOf(current), at = shown.indexOf(current);
  const moves = {
    ArrowDown: () => choose(shown[Math.min(at + 1, shown.length - 1)], true),
    ArrowUp: () => choose(shown[Math.max(at - 1, 0)], true),
    ArrowRight: () => below.length ? choose(below[0], true) : closed.has(current) && toggle(current),
    ArrowLeft: () => below.length ? toggle(current) : current !== top0 && choose(parentOf[current], true),
    Home: () => choose(top0, true), End: () => choose(shown[shown.length - 1], true),
    Enter: () => toggle(current), " ": () => toggle(current),
    f: () => !isLeaf(current) && focusOn(current), Escape: () => focusOn(0),
    "+": () => zoom(scale * 1.25), "-": () => zoom(scale / 1.25), 0: () => zoom(1),
  };
  const key = event.key === "F" ? "f" : event.key;
  if (!moves[key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  moves[key]();
});
view.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
}, { passive: false });
function search() {
  const text = $("search").value.trim().toLowerCase();
  marked.clear();
  if (text) nodes.forEach((node, i) => { if ((node.features || []).some((name) => name.toLowerCase().includes(text))) marked.add(i); });
  hits = [...marked].sort((a, b) => nodes[a].depth - nodes[b].depth || a - b);
  hit = -1;
  if (hits.length) goToHit(); else { $("found").textContent = text ? "No split uses such a column." : ""; draw(); }
}
function goToHit() {
  hit = (hit + 1) % hits.length;
  reveal(hits[hit]);
  $("found").textContent = `${hit + 1} of ${countText(hits.length, "split")}` + (hits.length > 1 ? "; press Enter for the next" : "");
}
$("search").addEventListener("input", search);
$("search").addEventListener("keydown", (event) => { if (event.key === "Enter" && hits.length) { event.preventDefault(); goToHit(); } });
$("zoom-in").addEventListener("click", () => zoom(scale * 1.25));
$("zoom-out").addEventListener("click", () => zoom(scale / 1.25));
$("fit").addEventListener("click", () => fit(0.25));
$("open-all").addEventListener("click", () => setAll(false));
$("close-all").addEventListener("click", () => setAll(true));
function redraw() { draw(); describe(current); drawLegend(); }

// Print: the diagram on a page of its own where it can be read there; else an outline of rows that flow over pages.
const PRINTED = 30, PAPER = { width: 1010, height: 600, least: 0.55 };
function printDiagram() {
  const [width, height] = sizeOf(), scale = Math.min(1, PAPER.width / width, PAPER.height / height);
  if (isNarrow() || closed.size > 0 || scale < PAPER.least) return null;
  const copy = $("drawing").cloneNode(true);
  for (const element of [copy, ...copy.querySelectorAll("[id]")]) element.removeAttribute("id");
  copy.setAttribute("class", "diagram");
  copy.setAttribute("width", width * scale);
  copy.setAttribute("height", height * scale);
  return make("div", { id: "printed", class: "printed", "aria-hidden": "true" }, copy);
}
function printRows() {
  const rows = shown.map((node) => {
    const depth = nodes[node].depth, x = Math.min(depth, 12) * 18, width = 700 - x - 6;
    const guides = pathTo(node).slice(1).map((_, i) => make("path", { class: "guide", d: `M${Math.min(i, 12) * 18 + 7} 0 V62` }));
    return make("svg", { class: "row", viewBox: "0 0 700 62", "aria-hidden": "true" }, ...guides, box(node, { x, y: 1, width, height: 58 }, true));
  });
  return make("div", { id: "printed", class: "printed" }, ...rows);
}
let before = null;
window.addEventListener("beforeprint", () => {
  before = { closed: [...closed], top0, scale, open: [...document.querySelectorAll("details:not([open])")] };
  before.open.forEach((details) => { details.open = true; });
  top0 = 0;
  openToFit(PRINTED);
  view.after(printDiagram() || printRows());
});
window.addEventListener("afterprint", () => {
  $("printed")?.remove();
  before.open.forEach((details) => { details.open = false; });
  closed.clear();
  before.closed.forEach((node) => closed.add(node));
  top0 = before.top0;
  draw();
  zoom(before.scale);
  before = null;
});
let lastWidth = view.clientWidth;
window.addEventListener("resize", () => {
  if (view.clientWidth === lastWidth || before !== null) return;
  lastWidth = view.clientWidth;
  draw();
  fit();
  scrollTo(current);
});
drawLegend();
openToFit();
choose(0);
