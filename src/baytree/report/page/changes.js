// What would have changed the decision: the search of explain/_counterfactual.py, on the page.
const allowed = { ...model.allowed, immutable: new Set(model.allowed.immutable), directions: { ...model.allowed.directions } };
function holds(demand, value) {
  if (value === null) return demand.missing;
  if (demand.here) return value >= 0 ? demand.here.includes(value) : demand.others;
  return value > (demand.low ?? -Infinity) && value <= (demand.high ?? Infinity);
}
const bytes = new DataView(new ArrayBuffer(8));
function ordinal(x) {  // numbers as whole numbers in the same order, without holes
  bytes.setFloat64(0, x);
  const bits = bytes.getBigInt64(0);
  return bits >= 0n ? bits : -(bits & 0x7fffffffffffffffn);
}
function numberAt(place) {
  bytes.setBigInt64(0, place >= 0n ? place : -place);
  return place >= 0n ? bytes.getFloat64(0) : -bytes.getFloat64(0);
}
const nextAfter = (x) => numberAt(ordinal(x) + 1n);
function lastWhere(holds, guess) {  // the last number for which a condition holds that holds up to there
  const end = ordinal(Number.MAX_VALUE), kept = (place) => place < -end ? -end : place > end ? end : place;
  let low = ordinal(guess), high = low;
  if (holds(guess)) for (let step = 1n; high < end && holds(numberAt(high)); step *= 2n) [low, high] = [high, kept(high + step)];
  else for (let step = 1n; low > -end && !holds(numberAt(low)); step *= 2n) [high, low] = [low, kept(low - step)];
  if (holds(numberAt(high))) return Infinity;
  if (!holds(numberAt(low))) return -Infinity;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (holds(numberAt(middle))) low = middle; else high = middle;
  }
  return numberAt(low);
}
function reachable(feature, low, high) {  // bounds within the range of the column in training
  const column = model.features[feature];
  if (column.low !== null) [low, high] = [Math.max(low, numberAt(ordinal(column.low) - 1n)), Math.min(high, column.high)];
  return column.isInteger ? [Math.floor(low), Math.floor(high)] : [low, high];
}
function moveOf(feature, value, demand) {  // the nearest value that a leaf wants: [distance, value, words], or null
  const { kind, names, isInteger } = model.features[feature], way = allowed.directions[feature] || 0;
  if (demand.here) return demand.known.length ? [1, demand.known[0], `to ${names[demand.known[0]]}`] : null;
  let low = demand.low ?? -Infinity, high = demand.high ?? Infinity;
  if (value !== null && way > 0 && value > high) return null;
  if (value !== null && way < 0 && value <= low) return null;
  if (kind !== "number") {  // positions of truth values and of categories in order
    const fitting = names.map((_, i) => i).filter((i) => i > low && i <= high);
    const best = fitting.sort((a, b) => value === null ? a - b : Math.abs(a - value) - Math.abs(b - value))[0];
    return best === undefined ? null : [value === null ? 1 : Math.abs(best - value), best, `to ${names[best]}`];
  }
  const [above, upTo] = reachable(feature, low, high), after = isInteger ? above + 1 : nextAfter(above);
  if (!(after <= upTo)) return null;
  let next;
  if (value !== null) next = value <= above ? after : upTo;
  else next = Number.isFinite(high) ? upTo : Number.isFinite(low) ? after : Math.min(Math.max(0, after), upTo);
  if (value !== null && way * (next - value) < 0) return null;
  const ends = [];
  if (Number.isFinite(high)) ends.push(`at most ${numberText(isInteger ? Math.floor(high) : high)}`);
  if (Number.isFinite(low)) ends[value !== null && value <= low ? "unshift" : "push"](isInteger ? `at least ${numberText(Math.floor(low) + 1)}` : `more than ${numberText(low)}`);
  return [value === null ? 1 : Math.abs(next - value) / model.scale[feature], next, `to ${ends.join(" but ") || "any number"}`];
}
function waysTo(leaf, row) {  // changes of few features that lead to a leaf
  const own = nodes[leaf], demands = new Map(own.demands.map((demand) => [demand.feature, demand]));
  const failed = own.demands.filter((demand) => !holds(demand, row[demand.feature])).map((demand) => demand.feature).sort((a, b) => a - b);
  const wrong = own.planes.filter(([node, left]) => goesLeft(tree.choices[node][0], row) !== left);
  if (failed.length > allowed.maxFeatures || failed.some((feature) => allowed.immutable.has(feature))) return [];
  if (!wrong.length) return [wayOf(leaf, row, failed, demands)];
  // Few features of which every hyperplane that sends the row elsewhere has one, and no hyperplane on the way has two.
  const shared = ([node], features) => featuresOf(tree.choices[node][0]).filter((feature) => features.includes(feature)).length;
  const choice = [...new Set([...failed, ...wrong.flatMap(([node]) => featuresOf(tree.choices[node][0]))])]
    .filter((feature) => !allowed.immutable.has(feature)).sort((a, b) => a - b);
  const sets = Array.from({ length: allowed.maxFeatures }, (_, i) => subsets(choice, i + 1)).flat();
  return sets.filter((features) => failed.every((feature) => features.includes(feature))
    && wrong.every((plane) => shared(plane, features) > 0) && own.planes.every((plane) => shared(plane, features) < 2))
    .map((features) => wayOf(leaf, row, features, demands));
}
const subsets = (list, size) => size === 0 ? [[]]
  : list.flatMap((first, i) => subsets(list.slice(i + 1), size - 1).map((rest) => [first, ...rest]));
function wayOf(leaf, row, features, demands) {
  const changed = [...row], told = [];
  let distance = 0;
  for (const feature of features) {
    let demand = demands.get(feature) || { low: null, high: null, missing: true };
    for (const [node, left] of nodes[leaf].planes) {
      const split = tree.choices[node][0], term = split.terms.find(([own]) => own === feature);
      if (!term) continue;
      const rest = sumOf(split, changed) - term[1] * (changed[feature] === null ? term[2] : changed[feature]);
      const rises = term[1] > 0, below = left === rises, tried = [...changed];
      const edge = lastWhere((x) => { tried[feature] = x; return goesLeft(split, tried) === rises; }, (split.threshold - rest) / term[1]);
      demand = below ? { ...demand, high: Math.min(demand.high ?? Infinity, edge) } : { ...demand, low: Math.max(demand.low ?? -Infinity, edge) };
    }
    const move = moveOf(feature, row[feature], demand);
    if (!move) return null;
    distance += move[0];
    changed[feature] = move[1];
    told.push(`${model.features[feature].name} from ${valueText(feature, row[feature])} ${move[2]}`);
  }
  return leafOf(changed) === leaf ? { leaf, features, distance, text: told.join(", and "), n: nodes[leaf].n, changed } : null;
}
// The decision of the model that predicts; of an average over trees not that of the readable tree.
function decisionOfRow(row) {
  if (!model.space && !graph.models) return decisionOf(leafOf(row));
  const value = averageAt(row);
  return model.classes ? decide(value) : Number(value[0] > nodes[0].estimates[0][1]);
}
function changesOf(row) {  // the most usual first, the nearest always among them
  if (graph.models) return changesAlone(row);
  const decision = decisionOfRow(row), here = leafOf(row);
  const first = (a, b) => a.reduce((order, feature, i) => order || feature - b[i], 0);
  const nearer = (a, b) => a.distance - b.distance || a.features.length - b.features.length || first(a.features, b.features) || a.leaf - b.leaf;
  const all = nodes.map((_, node) => node).filter((node) => isLeaf(node) && (model.space ? node !== here : decisionOf(node) !== decision))
    .map((leaf) => waysTo(leaf, row).filter((way) => way && (!model.space || decisionOfRow(way.changed) !== decision)).sort(nearer)[0]).filter(Boolean);
  const needless = (way) => all.some((other) => other !== way && other.features.length < way.features.length
    && other.features.every((feature) => way.features.includes(feature)) && other.distance <= way.distance && other.n >= way.n);
  const found = all.filter((way) => !needless(way)).sort((a, b) => b.n - a.n || nearer(a, b));
  const shown = found.slice(0, allowed.nChanges), nearest = [...found].sort(nearer)[0];
  if (nearest && !shown.includes(nearest)) shown[shown.length - 1] = nearest;
  return shown;
}
