// What would have changed the decision: the search of explain/_counterfactual.py, on the page.
const allowed = { ...model.allowed, immutable: new Set(model.allowed.immutable), directions: { ...model.allowed.directions } };
function holds(demand, value) {
  if (value === null) return demand.missing;
  if (demand.here) return value >= 0 ? demand.here.includes(value) : demand.others;
  return value > (demand.low ?? -Infinity) && value <= (demand.high ?? Infinity);
}
function nextAfter(x) {  // the next number above
  if (x === 0) return Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + (x > 0 ? 1n : -1n));
  return view.getFloat64(0);
}
function moveOf(feature, value, demand) {  // the nearest value that a leaf wants: [distance, value, words], or null
  const { kind, names } = model.features[feature], way = allowed.directions[feature] || 0;
  if (demand.here) return demand.known.length ? [1, demand.known[0], `to ${names[demand.known[0]]}`] : null;
  let low = demand.low ?? -Infinity, high = demand.high ?? Infinity;
  if (value !== null && way > 0 && value > high) return null;
  if (value !== null && way < 0 && value <= low) return null;
  if (kind !== "number") {  // positions of truth values and of categories in order
    const fitting = names.map((_, i) => i).filter((i) => i > low && i <= high);
    const best = fitting.sort((a, b) => value === null ? a - b : Math.abs(a - value) - Math.abs(b - value))[0];
    return best === undefined ? null : [value === null ? 1 : Math.abs(best - value), best, `to ${names[best]}`];
  }
  if (!(nextAfter(low) <= high)) return null;
  let next;
  if (value !== null) next = value <= low ? nextAfter(low) : high;
  else next = Number.isFinite(high) ? high : Number.isFinite(low) ? nextAfter(low) : 0;
  const ends = [];
  if (Number.isFinite(high)) ends.push(`at most ${numberText(high)}`);
  if (Number.isFinite(low)) ends[value !== null && value <= low ? "unshift" : "push"](`more than ${numberText(low)}`);
  return [value === null ? 1 : Math.abs(next - value) / model.scale[feature], next, `to ${ends.join(" but ") || "any number"}`];
}
function waysTo(leaf, row) {  // changes of few features that lead to a leaf
  const own = nodes[leaf], demands = new Map(own.demands.map((demand) => [demand.feature, demand]));
  const failed = own.demands.filter((demand) => !holds(demand, row[demand.feature])).map((demand) => demand.feature).sort((a, b) => a - b);
  const wrong = own.planes.filter(([node, left]) => goesLeft(tree.choices[node][0], row) !== left);
  if (failed.length > allowed.maxFeatures || failed.some((feature) => allowed.immutable.has(feature))) return [];
  if (!wrong.length) return [wayOf(leaf, row, failed, demands)];
  // One feature that is in every hyperplane which sends the row elsewhere.
  const common = featuresOf(tree.choices[wrong[0][0]][0]).filter((feature) => !allowed.immutable.has(feature)
    && wrong.every(([node]) => featuresOf(tree.choices[node][0]).includes(feature))
    && failed.every((other) => other === feature));
  return common.map((feature) => wayOf(leaf, row, [feature], demands));
}
function wayOf(leaf, row, features, demands) {
  const changed = [...row], told = [];
  let distance = 0;
  for (const feature of features) {
    let demand = demands.get(feature) || { low: null, high: null, missing: true };
    for (const [node, left] of nodes[leaf].planes) {
      const split = tree.choices[node][0], term = split.terms.find(([own]) => own === feature);
      if (!term) continue;
      const rest = sumOf(split, changed) - term[1] * (changed[feature] === null ? term[2] : changed[feature]);
      const edge = (split.threshold - rest) / term[1], below = left === (term[1] > 0);
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
function changesOf(row) {  // the most usual first, the nearest always among them
  const decision = decisionOf(leafOf(row));
  const first = (a, b) => a.reduce((order, feature, i) => order || feature - b[i], 0);
  const nearer = (a, b) => a.distance - b.distance || a.features.length - b.features.length || first(a.features, b.features) || a.leaf - b.leaf;
  const all = nodes.map((_, node) => node).filter((node) => isLeaf(node) && decisionOf(node) !== decision)
    .map((leaf) => waysTo(leaf, row).filter(Boolean).sort(nearer)[0]).filter(Boolean);
  const needless = (way) => all.some((other) => other !== way && other.features.length < way.features.length
    && other.features.every((feature) => way.features.includes(feature)) && other.distance <= way.distance && other.n >= way.n);
  const found = all.filter((way) => !needless(way)).sort((a, b) => b.n - a.n || nearer(a, b));
  const shown = found.slice(0, allowed.nChanges), nearest = [...found].sort(nearer)[0];
  if (nearest && !shown.includes(nearest)) shown[shown.length - 1] = nearest;
  return shown;
}
