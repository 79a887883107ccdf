// A case: its way, its answer, what would change it.
listeners.push(redraw);
const used = new Set();
for (const choices of graph.choices) for (const split of choices) featuresOf(split).forEach((feature) => used.add(feature));
for (const own of graph.models || []) if (own) for (const { feature } of own.terms) used.add(feature);
const fields = [...used].sort((a, b) => a - b);
for (const feature of fields) {
  const { name, kind, names } = model.features[feature], id = `field-${feature}`;
  let field;
  if (names) {
    field = make("select", { id }, make("option", { value: "" }, "(missing)"), ...names.map((category, i) => make("option", { value: i }, category)));
    if (kind === "category") field.append(make("option", { value: UNSEEN }, "(another category)"));
  } else field = make("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", placeholder: "missing" });
  $("fields").append(make("label", { for: id }, make("span", {}, name), field));
  const ways = kind === "category" ? [["", "may change"], ["0", "stays"]] : [["", "may change"], ["0", "stays"], ["1", "may only rise"], ["-1", "may only fall"]];
  const way = make("select", { id: `way-${feature}` }, ...ways.map(([value, text]) => make("option", { value }, text)));
  way.value = allowed.immutable.has(feature) ? "0" : String(allowed.directions[feature] || "");
  way.addEventListener("change", () => {
    if (way.value === "0") allowed.immutable.add(feature); else allowed.immutable.delete(feature);
    if (["1", "-1"].includes(way.value)) allowed.directions[feature] = Number(way.value); else delete allowed.directions[feature];
    if (answered) answer();
  });
  $("allowed").append(make("label", { for: `way-${feature}` }, make("span", {}, name), way));
}
const rest = model.features.length - fields.length;
$("rest").textContent = rest ? `The model does not use ${countText(rest, "other column")}.` : "";

function readRow() {
  const row = model.features.map(() => null), wrong = [];
  for (const feature of fields) {
    const field = $(`field-${feature}`), text = field.value.trim(), value = text === "" ? null : Number(text);
    const isWrong = value !== null && !Number.isFinite(value);
    field.setAttribute("aria-invalid", isWrong);
    if (isWrong) wrong.push(model.features[feature].name);
    row[feature] = value;
  }
  if (wrong.length) throw new Error(`Not a number: ${wrong.join(", ")}. Write numbers with a point, or leave the field empty.`);
  return row;
}
function valueText(feature, value) {
  const { names } = model.features[feature];
  return value === null ? "missing" : !names ? numberText(value) : value === UNSEEN ? "another category" : names[value];
}
function reasons(leaf, row) {  // one line for each feature on the way
  const told = nodes[leaf].conditions.map(([feature, condition]) => {
    const { name, kind } = model.features[feature], value = row[feature];
    if (value !== null && kind === "truth value") return `${name} ${condition}`;
    if (value === null) return condition === "is missing" ? `${name} is missing` : `${name} is missing: ${condition}`;
    return `${name} = ${valueText(feature, value)}: ${condition}`;
  });
  for (const [plane, left] of nodes[leaf].planes) {
    const split = tree.choices[plane][0], gone = split.terms.filter(([feature]) => row[feature] === null);
    const filled = gone.map(([feature, , mean]) => `${model.features[feature].name} counts as ${numberText(mean)}`);
    told.push(`${nodes[plane].feature} = ${numberText(sumOf(split, row))} ${left ? nodes[plane].left : nodes[plane].right}` + (filled.length ? ` (${filled.join(", ")})` : ""));
  }
  return told;
}
function unseenOn(leaf, row) {  // features of which the splits on the way had not seen such a value
  const found = pathTo(leaf).slice(0, -1).map((node) => tree.choices[node][0]).filter((split) => !hasSeen(split, row)).map((split) => split.feature);
  return [...new Set(found)];
}
function estimateRows(row, leaf) {  // name, number to compare, text and interval
  const parts = partsOf(weightsOf(row), row), value = averageOf(parts), alone = parts.length === 1 && !model.space && !modelOf(leaf);
  if (model.classes) {
    const order = value.map((_, i) => i).sort((a, b) => two ? (b === positive) - (a === positive) : value[b] - value[a]);
    return order.map((i, place) => {
      const interval = alone ? classInterval(leaf, i) : place < 12 ? classMixtureInterval(parts, i) : null;
      return [model.classes[i], i, value[i], percentText(value[i]), interval ? percentRange(interval) : "–"];
    });
  }
  return ["mean", "outcome"].map((kind, i) => {
    const known = alone ? nodes[leaf].estimates[i].slice(2) : numberMixtureInterval(parts, kind);
    const interval = known && known[0] !== null ? `${estimateText(known[0])} to ${estimateText(known[1])}` : "–";
    return [kind, i, value[0], estimateText(value[0]), interval];
  });
}
let answered = false;
function answer() {
  const out = $("answer");
  let row;
  try { row = readRow(); } catch (error) {
    out.replaceChildren(make("p", { class: "error" }, error.message));
    return;
  }
  answered = true;
  const leaf = leafOf(row), found = estimateRows(row, leaf);
  const code = model.classes ? decide([...found].sort((a, b) => a[1] - b[1]).map((own) => own[2])) : null;
  const says = model.classes ? decisionText(code) : found[0][3];
  const body = make("tbody", {}, ...found.map(([name, i, value, text, interval]) => {
    const cell = make("td", { class: "number" }, text);
    if (model.classes || i === 0) { cell.dataset.value = value; cell.dataset.place = i; }
    return make("tr", { class: model.classes && i === code ? "chosen" : "" }, make("th", { scope: "row" }, name), cell, make("td", { class: "number" }, interval));
  }));
  const titles = [model.classes ? "class" : "outcome", model.classes ? "probability" : "estimate", "90 % interval"];
  const head = make("thead", {}, make("tr", {}, ...titles.map((text) => make("th", { scope: "col" }, text))));
  const told = reasons(leaf, row), effects = effectsIn(leaf, row), unseen = unseenOn(leaf, row), changes = changesOf(row);
  const warning = unseen.length ? [make("p", { class: "error", id: "unseen" }, `${unseen.map((feature) =>
    `${model.features[feature].name} is ${valueText(feature, row[feature])}`).join(", ")}: no training row had such a value at that split. ` +
    (model.unseen === "average" ? "Such values follow both branches, and the prediction is their average." : "Such values follow the branch with more training rows, so the interval is too narrow."))] : [];
  const why = told.length ? make("ul", {}, ...told.map((text) => make("li", {}, signs(text))))
    : make("p", {}, modelOf(leaf) ? "The tree has one leaf." : "The tree has one leaf, so every case has the same prediction.");
  const inLeaf = effects ? [make("p", {}, two ? `Against the mean of the leaf, the odds of ${model.classes[1]} change by these factors:` : "Against the mean of the leaf:"),
    make("ul", { id: "effects" }, ...effects.map((own) => make("li", { "data-effect": own.effect }, effectText(own, row))))] : [];
  const whole = !model.isWhole ? " This is the prediction of the readable tree. The model averages over many trees and may predict another class." : model.space ? ` This is the average over all trees. The prediction of ${model.treeName} is ${decisionText(decisionOf(leaf))}.` : "";
  const show = make("a", { href: "#tree" }, "Show it in the tree");
  out.replaceChildren(make("h3", { id: "says" }, says), make("p", { class: "soft" }, `${model.classes && two && threshold !== null ? `The threshold for ${model.classes[positive]} is a probability of ${percentText(threshold)}.` : ""}${whole}`),
    ...warning, make("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "answer" }, make("table", {}, head, body)),
    make("h3", {}, model.space ? `Path in ${model.treeName}` : "Because"), why, ...inLeaf,
    make("p", {}, `Leaf ${leaf}, ${countText(nodes[leaf].n, "training row")}. `, show),
    make("h3", {}, "Changes that lead to another prediction"),
    changes.length ? make("ol", { id: "changes" }, ...changes.map((way) => make("li", { "data-row": JSON.stringify(way.changed) }, `${way.text}: `,
      make("strong", {}, model.classes ? decisionText(decisionOfRow(way.changed)) : estimateText(model.space || graph.models ? averageAt(way.changed)[0] : nodes[way.leaf].estimates[0][1])), model.space || graph.models ? "" : ` (like ${countText(way.n, "training row")})`)))
      : make("p", { id: "changes" }, model.space ? "None of the allowed changes that the readable tree proposes leads to another prediction." : graph.models ? "No allowed change of a single column leads to another prediction." : "No allowed change leads to another prediction."));
  onPath.clear();
  pathTo(leaf).forEach((node) => onPath.add(node));
  reveal(leaf);
}
$("form").addEventListener("submit", (event) => { event.preventDefault(); answer(); });
listeners.push(() => { if (answered) answer(); });

// A value as it stands in a table: a category, a number, a truth value, or a word for a missing one.
function setValue(feature, value) {
  const { kind, written, name } = model.features[feature], isAbsent = value === null || value === undefined;
  const given = isAbsent ? "" : String(value);  // which may be a category, where a missing value is none
  const text = given.trim(), isMissing = ["", "nan", "null", "none", "na", "<na>"].includes(text.toLowerCase());
  const truth = { true: "1", false: "0" }[text.toLowerCase()] ?? text, field = $(`field-${feature}`);
  if (kind === "number" || kind === "truth value") {
    field.value = isMissing ? "" : kind === "number" ? truth : String(Number(truth));
    return;
  }
  const found = isAbsent ? undefined : [(category) => category === given, (category) => category.trim() === text,
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
