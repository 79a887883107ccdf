"use strict";
(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  const tree = model.tree, nodes = tree.nodes, graph = model.space || tree;
  const WIDTH = 178, GAP = 14, LEVEL = 140, MARGIN = 12;
  const $ = (id) => document.getElementById(id);
  const childrenOf = (node) => tree.choices[node].length ? [tree.choices[node][0].left, tree.choices[node][0].right] : [];
  const parentOf = nodes.map(() => -1);
  nodes.forEach((_, node) => childrenOf(node).forEach((child) => { parentOf[child] = node; }));
  const leavesBelow = nodes.map(() => 1);
  for (let node = nodes.length - 1; node >= 0; node--)  // children come after their parents
    if (childrenOf(node).length) leavesBelow[node] = childrenOf(node).reduce((sum, child) => sum + leavesBelow[child], 0);

  function make(tag, attributes = {}, ...content) {
    const svg = ["svg", "path"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...content);
    return element;
  }
  function number(value) {
    if (value === null) return "not finite";
    const size = Math.abs(value);
    return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(3) : String(Number(value.toPrecision(4)));
  }
  const rows = (n) => `${n} training ${n === 1 ? "row" : "rows"}`;
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const estimateText = ([name, estimate, low, high]) =>
    `${name}: ${number(estimate)}` + (low === null ? "" : ` (90 % between ${number(low)} and ${number(high)})`);
  function top(node) {  // what a leaf says first: the most probable class, or the mean
    const all = nodes[node].estimates;
    return model.classes ? all.reduce((best, one) => one[1] > best[1] ? one : best) : all[0];
  }
  const pathTo = (node) => {
    const path = [];
    for (let at = node; at >= 0; at = parentOf[at]) path.unshift(at);
    return path;
  };
  const ruleTo = (node) => {
    const path = pathTo(node);
    return path.slice(1).map((child, i) => {
      const split = nodes[path[i]], isLeft = tree.choices[path[i]][0].left === child;
      return `${split.feature} ${isLeft ? split.yes : split.no}`;
    });
  };

  // The drawing -------------------------------------------------------------------------------------------------------
  const canvas = $("canvas"), view = $("view"), closed = new Set(), marked = new Set(), onPath = new Set();
  let scale = 1, current = 0, shown = [];
  if (nodes.length > 64) nodes.forEach((node, i) => { if (node.depth >= 3 && childrenOf(i).length) closed.add(i); });

  function layOut() {  // leaves side by side, parents above the middle of their children
    const place = new Map(), order = [], stack = [[0, false]];
    let next = 0;
    while (stack.length) {
      const [node, done] = stack.pop();
      const below = closed.has(node) ? [] : childrenOf(node);
      if (!done) order.push(node);
      if (!below.length) place.set(node, next++);
      else if (done) place.set(node, (place.get(below[0]) + place.get(below[1])) / 2);
      else stack.push([node, true], [below[1], false], [below[0], false]);
    }
    shown = order;
    return place;
  }
  function draw() {
    const place = layOut();
    const x = (node) => MARGIN + place.get(node) * (WIDTH + GAP), y = (node) => MARGIN + nodes[node].depth * LEVEL;
    const width = 2 * MARGIN + WIDTH + Math.max(...place.values()) * (WIDTH + GAP);
    const height = 2 * MARGIN + 110 + Math.max(...shown.map((node) => nodes[node].depth)) * LEVEL;
    const edges = make("svg", { class: "edges", width, height, "aria-hidden": "true" });
    const boxes = shown.map((node) => box(node, x(node), y(node)));
    for (const node of shown) {
      if (node === 0) continue;
      const [x1, y1, x2, y2] = [x(parentOf[node]) + WIDTH / 2, y(parentOf[node]) + 70, x(node) + WIDTH / 2, y(node)];
      const d = `M${x1} ${y1} C${x1} ${(y1 + y2) / 2 + 15} ${x2} ${(y1 + y2) / 2 - 15} ${x2} ${y2}`;
      edges.append(make("path", { d, class: onPath.has(node) ? "on" : "" }));
    }
    canvas.replaceChildren(edges, ...boxes);
    canvas.dataset.width = width;
    canvas.dataset.height = height;
    zoom(scale);
  }
  function box(node, left, topEdge) {
    const own = nodes[node], isLeaf = !childrenOf(node).length, parent = parentOf[node];
    const element = make("div", {
      role: "treeitem", id: `node-${node}`, "aria-level": own.depth + 1, tabindex: node === current ? 0 : -1,
      class: ["node", isLeaf && "leaf", marked.has(node) && "hit", onPath.has(node) && "on"].filter(Boolean).join(" "),
      "aria-selected": node === current,
    });
    if (!isLeaf) element.setAttribute("aria-expanded", !closed.has(node));
    if (parent >= 0) {
      const siblings = childrenOf(parent);
      element.setAttribute("aria-setsize", 2);
      element.setAttribute("aria-posinset", siblings.indexOf(node) + 1);
      element.append(make("span", { class: "side" }, siblings[0] === node ? "yes" : "no"));
    }
    // Long names are cut off, what is asked of them and what is said is not.
    element.append(make("div", { class: "rule" }, isLeaf ? top(node)[0] : own.feature));
    element.append(make("div", { class: "rule one" }, isLeaf ? number(top(node)[1]) : own.yes));
    const more = closed.has(node) ? `${leavesBelow[node]} leaves below` : isLeaf ? "" : `odds ${own.odds}`;
    element.append(make("div", {}, [more, `n = ${own.n}`].filter(Boolean).join(", ")));
    if (isLeaf && own.curve) element.append(curve(own.curve));
    element.style.left = `${left}px`;
    element.style.top = `${topEdge}px`;
    element.addEventListener("click", () => { choose(node); if (!isLeaf) toggle(node); });
    element.addEventListener("mouseenter", () => describe(node));
    element.addEventListener("focus", () => describe(node));
    return element;
  }
  function curve(heights) {
    const points = heights.map((height, i) => `${(i * 160 / (heights.length - 1)).toFixed(1)} ${(24 - 22 * height).toFixed(1)}`);
    return make("svg", { width: 160, height: 24, "aria-hidden": "true" },
      make("path", { class: "curve", d: `M0 24 L${points.join(" L")} L160 24 Z` }));
  }
  function describe(node) {
    const own = nodes[node], parts = [], isLeaf = !childrenOf(node).length;
    parts.push(make("p", {}, make("strong", {}, isLeaf ? `Leaf ${node}:` : `Split ${node}: ${own.feature} ${own.yes}?`),
      ` ${rows(own.n)}.`));
    const rule = ruleTo(node);
    if (rule.length) parts.push(make("p", { id: "rule" }, `If ${rule.join(" and ")}.`));
    parts.push(make("p", {}, own.estimates.slice(0, 8).map(estimateText).join("; ") + "."));
    parts.push(make("p", { class: "soft" }, `Posterior: ${own.posterior}.`));
    if (!isLeaf) {
      const others = own.others.map(([name, share]) => `${name} (${percent(share)})`).join(", ");
      parts.push(make("p", {}, `Odds of the split against none: ${own.odds}. ` +
        (others ? `It could also have been: ${others}.` : "Nothing else comes near.")));
    }
    $("detail").replaceChildren(...parts);
  }
  function choose(node, focus = false) {
    current = node;
    for (const element of canvas.querySelectorAll(".node")) {
      const isCurrent = element.id === `node-${node}`;
      element.tabIndex = isCurrent ? 0 : -1;
      element.setAttribute("aria-selected", isCurrent);
    }
    if (focus) $(`node-${node}`).focus();
    describe(node);
  }
  function toggle(node) {
    if (!childrenOf(node).length) return;
    if (closed.has(node)) closed.delete(node); else closed.add(node);
    const hadFocus = canvas.contains(document.activeElement);
    draw();
    choose(node, hadFocus);
  }
  function zoom(to) {
    scale = Math.min(3, Math.max(0.02, to));
    canvas.style.transform = `scale(${scale})`;
    canvas.style.width = `${canvas.dataset.width * scale}px`;
    canvas.style.height = `${canvas.dataset.height * scale}px`;
    $("zoom").textContent = `${Math.round(100 * scale)} %`;
  }
  const fit = () => zoom(Math.min(1, (view.clientWidth - 4) / canvas.dataset.width));
  function setAll(isClosed) {
    closed.clear();
    if (isClosed) nodes.forEach((_, node) => { if (childrenOf(node).length) closed.add(node); });
    current = 0;
    draw();
  }
  canvas.addEventListener("keydown", (event) => {
    const below = closed.has(current) ? [] : childrenOf(current), at = shown.indexOf(current);
    const moves = {
      ArrowDown: () => choose(shown[Math.min(at + 1, shown.length - 1)], true),
      ArrowUp: () => choose(shown[Math.max(at - 1, 0)], true),
      ArrowRight: () => below.length ? choose(below[0], true) : closed.has(current) && toggle(current),
      ArrowLeft: () => below.length ? toggle(current) : choose(Math.max(parentOf[current], 0), true),
      Home: () => choose(0, true), End: () => choose(shown[shown.length - 1], true),
      Enter: () => toggle(current), " ": () => toggle(current),
      "+": () => zoom(scale * 1.25), "-": () => zoom(scale / 1.25), 0: () => zoom(1),
    };
    if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[event.key]();
  });
  view.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
  }, { passive: false });
  function search() {
    const text = $("search").value.trim().toLowerCase();
    marked.clear();
    if (text) nodes.forEach((node, i) => {
      if ((node.features || []).some((name) => name.toLowerCase().includes(text))) marked.add(i);
    });
    for (const node of marked) pathTo(node).slice(0, -1).forEach((above) => closed.delete(above));
    $("found").textContent = text ? `${marked.size} ${marked.size === 1 ? "split uses" : "splits use"} such a feature` : "";
    draw();
  }
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && marked.size) choose(Math.min(...marked), true);
  });
  $("zoom-in").addEventListener("click", () => zoom(scale * 1.25));
  $("zoom-out").addEventListener("click", () => zoom(scale / 1.25));
  $("zoom-fit").addEventListener("click", fit);
  $("open-all").addEventListener("click", () => setAll(false));
  $("close-all").addEventListener("click", () => setAll(true));
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = [scale, [...closed]];
    closed.clear(); draw(); zoom(Math.min(1, 680 / canvas.dataset.width));
  });
  window.addEventListener("afterprint", () => {
    before[1].forEach((node) => closed.add(node)); draw(); zoom(before[0]);
  });
  draw();
  choose(0);
  view.scrollLeft = $("node-0").offsetLeft + WIDTH / 2 - view.clientWidth / 2;

  // A case ------------------------------------------------------------------------------------------------------------
  const UNSEEN = -1;
  const sumOf = (split, row) => split.terms.reduce(
    (sum, [feature, coefficient, missing]) => sum + coefficient * (row[feature] === null ? missing : row[feature]), 0);
  const featuresOf = (split) => split.kind === "hyperplane" ? split.terms.map(([feature]) => feature) : [split.feature];
  function goesLeft(split, row) {
    if (split.kind === "hyperplane") return sumOf(split, row) <= split.threshold;
    const value = row[split.feature];
    if (value === null) return split.missingLeft;
    if (split.kind === "present_missing") return true;
    if (split.kind === "threshold") return value <= split.threshold;
    return split.leftCategories.includes(value) || (!split.rightCategories.includes(value) && split.unseenLeft);
  }
  function predict(row) {  // the average over all trees; of one tree its leaf's value
    const known = new Map();
    const below = (node) => {
      if (known.has(node)) return known.get(node);
      const shares = [[graph.leafShare[node], graph.value[node]]];
      for (const split of graph.choices[node]) shares.push([split.share, below(goesLeft(split, row) ? split.left : split.right)]);
      const counted = shares.filter(([share]) => share > 0);
      const value = graph.value[node].map((_, k) => counted.reduce(
        (sum, [share, of]) => sum === null || of[k] === null ? null : sum + share * of[k], 0));
      known.set(node, value);
      return value;
    };
    return below(0);
  }
  function leafOf(row) {
    let node = 0;
    while (childrenOf(node).length) node = goesLeft(tree.choices[node][0], row) ? tree.choices[node][0].left : tree.choices[node][0].right;
    return node;
  }
  function stepText(node, row) {  // a split in words, with the row's value
    const split = tree.choices[node][0], own = nodes[node], condition = goesLeft(split, row) ? own.yes : own.no;
    if (split.kind === "hyperplane") {
      const missing = split.terms.filter(([feature]) => row[feature] === null);
      const filled = missing.map(([feature, , mean]) => `${model.features[feature].name} counts as ${number(mean)}`);
      return `${own.feature} = ${sumOf(split, row)} ${condition}${filled.length ? ` (${filled.join(", ")})` : ""}`;
    }
    const value = row[split.feature], { name, kind, names } = model.features[split.feature];
    const sawValue = split.kind !== "category_set" || [...split.leftCategories, ...split.rightCategories].includes(value);
    const isNew = value === null ? !split.sawMissing : !sawValue;
    const text = !names ? value : value === UNSEEN ? "another category" : names[value];
    const has = value === null ? `${name} is missing` : `${name} = ${text}`;
    if (isNew) return `${has}, not seen here, goes to the larger side: ${condition}`;
    if (value !== null && kind === "truth value") return `${name} ${condition}`;
    return value === null ? `${has}${condition === "is missing" ? "" : `: ${condition}`}` : `${has} ${condition}`;
  }
  const used = new Set();
  for (const choices of graph.choices) for (const split of choices)
    featuresOf(split).forEach((feature) => used.add(feature));
  const fields = [...used].sort((a, b) => a - b);
  for (const feature of fields) {
    const { name, kind, names } = model.features[feature], id = `field-${feature}`;
    let field;
    if (names) {
      field = make("select", { id }, make("option", { value: "" }, "(missing)"),
        ...names.map((category, i) => make("option", { value: i }, category)));
      if (kind === "category") field.append(make("option", { value: UNSEEN }, "(another category)"));
    } else {
      field = make("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", placeholder: "missing" });
    }
    $("fields").append(make("label", { for: id }, name, field));
  }
  const rest = model.features.length - fields.length;
  $("rest").textContent = rest ? `${rest} of ${model.features.length} columns are not used: they do not matter.` : "";

  function readRow() {
    const row = model.features.map(() => null), wrong = [];
    for (const feature of fields) {
      const field = $(`field-${feature}`), text = field.value.trim();
      const value = text === "" ? null : Number(text);
      const isWrong = value !== null && !Number.isFinite(value);
      field.setAttribute("aria-invalid", isWrong);
      if (isWrong) wrong.push(model.features[feature].name);
      row[feature] = value;
    }
    if (wrong.length) throw new Error(`Not a number: ${wrong.join(", ")}. Write numbers with a point, or leave the field empty.`);
    return row;
  }
  function answer() {
    const out = $("answer");
    let row;
    try { row = readRow(); } catch (error) {
      out.replaceChildren(make("p", { class: "error" }, error.message));
      return;
    }
    const value = predict(row), leaf = leafOf(row), own = nodes[leaf];
    const names = model.classes || (model.space ? ["mean"] : own.estimates.map(([name]) => name));
    const intervals = model.space ? [] : own.estimates;
    const body = make("tbody", {}, ...names.map((name, i) => {
      const estimate = model.classes ? value[i] : value[0];
      const cell = make("td", { class: "number" }, number(estimate));
      if (model.classes || i === 0) cell.dataset.value = estimate;
      const hasInterval = intervals[i] && intervals[i][2] !== null;
      return make("tr", {}, make("th", { scope: "row" }, name), cell,
        make("td", { class: "number" }, hasInterval ? `${number(intervals[i][2])} to ${number(intervals[i][3])}` : "–"));
    }));
    const head = make("thead", {}, make("tr", {}, ...[model.classes ? "class" : "outcome", model.classes ? "probability" : "estimate", "90 % between"]
      .map((text) => make("th", { scope: "col" }, text))));
    const rule = pathTo(leaf).slice(0, -1).map((node) => stepText(node, row));
    const why = rule.length ? make("ol", {}, ...rule.map((text) => make("li", {}, text))) : make("p", {}, "The tree has one leaf: every case gets the same answer.");
    out.replaceChildren(make("h3", {}, "Answer"), make("table", {}, head, body),
      make("h3", {}, model.space ? "Its way through the most probable tree" : "Because"), why,
      make("p", {}, `Leaf ${leaf}, ${rows(own.n)}.`));
    onPath.clear();
    pathTo(leaf).forEach((node) => { onPath.add(node); if (node !== leaf) closed.delete(node); });
    current = leaf;
    draw();
    describe(leaf);
  }
  $("form").addEventListener("submit", (event) => { event.preventDefault(); answer(); });

  // A value as it stands in a table: a category, a number, a truth value, or a word for a missing one.
  function setValue(feature, value) {
    const { kind, written, name } = model.features[feature], given = value === null || value === undefined ? "" : String(value);
    const text = given.trim(), isMissing = ["", "nan", "null", "none", "na", "<na>"].includes(text.toLowerCase());
    const truth = { true: "1", false: "0" }[text.toLowerCase()] ?? text, field = $(`field-${feature}`);
    if (kind === "number" || kind === "truth value") {
      field.value = isMissing ? "" : kind === "number" ? truth : String(Number(truth));
      return;
    }
    const found = [(category) => category === given, (category) => category.trim() === text,
      (category) => text !== "" && category.trim() !== "" && Number(category) === Number(text)]
      .map((same) => written.findIndex(same)).find((category) => category >= 0);
    if (found === undefined && !isMissing) notes.push(`${name}: no training row has the category ${given}.`);
    field.value = found !== undefined ? String(found) : isMissing || kind !== "category" ? "" : String(UNSEEN);
  }
  let notes = [];
  function paste() {
    const text = $("paste").value.trim(), out = $("answer");
    if (!text) return;
    notes = [];
    try {
      if (text.startsWith("{")) fillByName(JSON.parse(text));
      else fillFromLines(text.split(/\r?\n/).map(splitLine));
    } catch (error) {
      out.replaceChildren(make("p", { class: "error" }, `This case could not be read: ${error.message}`));
      return;
    }
    answer();
    out.prepend(...notes.map((note) => make("p", { class: "error" }, note)));
  }
  function fillByName(values) {
    const names = model.features.map(({ name }) => name);
    const unknown = Object.keys(values).filter((name) => !names.includes(name) && name !== model.target);
    if (unknown.length) throw new Error(`there is no column ${unknown.join(", ")}.`);
    for (const feature of fields) setValue(feature, values[names[feature]]);
  }
  function splitLine(line) {  // by tabs, semicolons or commas; quotes keep a value together
    const separator = ["\t", ";"].find((mark) => line.includes(mark)) || ",", values = [""];
    let isQuoted = false;
    for (let i = 0; i < line.length; i++) {
      const last = values.length - 1;
      if (line[i] === '"' && isQuoted && line[i + 1] === '"') values[last] += line[++i];
      else if (line[i] === '"' && (isQuoted || values[last] === "")) isQuoted = !isQuoted;
      else if (line[i] === separator && !isQuoted) values.push("");
      else values[last] += line[i];
    }
    return values;
  }
  function fillFromLines(lines) {
    if (lines.length > 1) {
      if (lines.length > 2) notes.push("Only the first case was taken.");
      fillByName(Object.fromEntries(lines[0].map((name, i) => [name.trim(), lines[1][i]])));
      return;
    }
    if (lines[0].length !== model.features.length)
      throw new Error(`it has ${lines[0].length} values, the table has ${model.features.length} columns.`);
    for (const feature of fields) setValue(feature, lines[0][feature]);
  }
  $("fill").addEventListener("click", paste);
})();
