// The model: where rows go, what nodes know, what is decided.
const model = JSON.parse($("model").textContent);
const tree = model.tree, nodes = tree.nodes, graph = model.space || tree, UNSEEN = -1;
const two = model.classes && model.classes.length === 2;
const childrenOf = (node) => tree.choices[node].length ? [tree.choices[node][0].left, tree.choices[node][0].right] : [];
const isLeaf = (node) => tree.choices[node].length === 0;
const parentOf = nodes.map(() => -1);
nodes.forEach((_, node) => childrenOf(node).forEach((child) => { parentOf[child] = node; }));
const leavesBelow = nodes.map((_, node) => isLeaf(node) ? 1 : 0);
for (let node = nodes.length - 1; node > 0; node--) leavesBelow[parentOf[node]] += leavesBelow[node];  // children come later
const pathTo = (node) => {
  const path = [];
  for (let at = node; at >= 0; at = parentOf[at]) path.unshift(at);
  return path;
};
const conditionOf = (node) => nodes[parentOf[node]][childrenOf(parentOf[node])[0] === node ? "left" : "right"];

const positive = model.decision.positive, other = 1 - positive;  // of two classes
let threshold = model.decision.threshold;  // for the positive class; the slider moves it
function decide(probabilities) {
  if (two && threshold !== null) return probabilities[positive] >= threshold ? positive : other;
  const costs = model.decision.costs;
  const score = costs ? probabilities.map((_, j) => -probabilities.reduce((sum, p, i) => sum + p * costs[i][j], 0)) : probabilities;
  return score.reduce((best, own, i) => own > score[best] ? i : best, 0);
}
const meanOf = (posterior) => {
  const total = posterior.reduce((sum, own) => sum + own, 0);
  return posterior.map((own) => own / total);
};
const probabilitiesOf = (node) => tree.value[node] || meanOf(tree.posterior[node]);
function decisionOf(node) {  // a class; of numbers whether it is above the root's
  if (tree.decided && tree.decided[node] >= 0) return tree.decided[node];  // people set it
  if (model.classes) return decide(probabilitiesOf(node));
  return nodes[node].estimates[0][1] > nodes[0].estimates[0][1] ? 1 : 0;
}
const decisionText = (code) => model.actions ? model.actions[code] : model.classes ? model.classes[code]
  : `${code ? "above" : "at or below"} the overall mean of ${estimateText(nodes[0].estimates[0][1])}`;
function certaintyOf(node) {  // how sure the decision is, from 0 to 1
  if (!model.classes) {
    const [low, high] = model.range, value = nodes[node].estimates[0][1];
    return value === null ? 0 : Math.min(1, Math.max(0, (value - low) / (high - low)));
  }
  const code = decisionOf(node), posterior = tree.posterior[node];
  if (!two || threshold === null) return probabilitiesOf(node)[code];
  const above = 1 - betaCdf(posterior[positive], posterior[other], threshold);
  return code === positive ? above : 1 - above;
}
function classInterval(node, code) {
  const posterior = tree.posterior[node], own = posterior[code], rest = posterior.reduce((sum, a) => sum + a, 0) - own;
  return rest > 0 ? [betaQuantile(own, rest, 0.05), betaQuantile(own, rest, 0.95)] : [1, 1];
}

// Where a row goes; `null` is a missing value.
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
function hasSeen(split, row) {
  if (split.kind === "hyperplane" || split.kind === "present_missing") return true;
  const value = row[split.feature];
  if (value === null) return split.sawMissing;
  return split.kind !== "category_set" || split.leftCategories.includes(value) || split.rightCategories.includes(value);
}
function leafOf(row) {
  let node = 0;
  while (!isLeaf(node)) node = goesLeft(tree.choices[node][0], row) ? tree.choices[node][0].left : tree.choices[node][0].right;
  return node;
}
function weightsOf(row) {  // how much the row belongs to each node: over all trees, and both ways where that is wanted
  const mass = new Float64Array(graph.choices.length), ends = new Map();
  for (const root of graph.roots) mass[root] = 1 / graph.roots.length;
  for (let node = 0; node < mass.length; node++) {
    if (mass[node] === 0) continue;
    if (graph.leafShare[node] > 0) ends.set(node, mass[node] * graph.leafShare[node]);
    for (const split of graph.choices[node]) {
      const own = mass[node] * split.share;
      if (model.unseen === "average" && !hasSeen(split, row)) {
        const left = graph.weight[split.left], right = graph.weight[split.right];
        mass[split.left] += own * left / (left + right);
        mass[split.right] += own * right / (left + right);
      } else mass[goesLeft(split, row) ? split.left : split.right] += own;
    }
  }
  return ends;
}
// What the nodes predict that a row belongs to, with their weights.
const partsOf = (ends, row) => [...ends].map(([node, weight]) => ({ node, weight, ...predictedIn(node, row) }));
function meanOfParts(parts) {
  return parts[0].value.map((_, k) => {
    let sum = 0;
    for (const { weight, value } of parts) sum = sum === null || value[k] === null ? null : sum + weight * value[k];
    return sum;
  });
}
const calibration = model.space ? model.calibration : null;  // of the class probabilities of a forest
const scoreOf = (p, code) => calibration.factors[code] * p ** calibration.exponent;
function averageOf(parts) {
  const mean = meanOfParts(parts);
  return calibration ? meanOf(mean.map(scoreOf)) : mean;
}
const averageAt = (row) => averageOf(partsOf(weightsOf(row), row));
function mixtureInterval(all, cdfOf, low, high) {  // the central 90 % of a mixture
  const parts = all.filter(({ weight }) => weight > 1e-7);
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  const cdf = (x) => parts.reduce((sum, part) => sum + part.weight * cdfOf(part, x), 0) / total;
  return [root(cdf, 0.05, low, high), root(cdf, 0.95, low, high)];
}
function classMixtureInterval(parts, code) {
  const interval = mixtureInterval(parts, ({ posterior }, x) => {
    const total = posterior.reduce((sum, a) => sum + a, 0);
    return total > posterior[code] ? betaCdf(posterior[code], total - posterior[code], x) : Number(x >= 1);
  }, 0, 1);
  if (!calibration) return interval;
  const mean = meanOfParts(parts), rest = 1 - mean[code];  // the other classes keep their proportions
  const ofOthers = mean.reduce((sum, p, other) => other === code ? sum : sum + scoreOf(p, other), 0);
  return interval.map((p) => {
    const own = scoreOf(p, code), other = rest > 0 ? ofOthers * ((1 - p) / rest) ** calibration.exponent : 0;
    return own + other > 0 ? own / (own + other) : 1;
  });
}
const MOST_COUNTED = 100000;  // counts whose probabilities are added up one by one
const sums = new Map();
function countCdf({ node, posterior }, x) {  // beta negative binomial: the sum of its probabilities
  const [a, b] = posterior, size = model.outcome.size;
  if (!sums.has(node)) sums.set(node, { log: logGamma(a + size) + logGamma(a + b) - logGamma(a + b + size) - logGamma(a), cdf: [] });
  const own = sums.get(node);
  for (let k = own.cdf.length; k <= Math.min(x, MOST_COUNTED); k++) {
    if (k > 0) own.log += Math.log((size + k - 1) * (b + k - 1) / (k * (a + b + size + k - 1)));
    own.cdf.push((k > 0 ? own.cdf[k - 1] : 0) + Math.exp(own.log));
  }
  return own.cdf[Math.min(Math.floor(x), own.cdf.length - 1)];
}
// Distribution functions of counts and durations in a node: of the mean, and of the outcome.
const RATES = {
  poisson: {
    mean: ({ posterior: [shape, rate] }, x) => gammaCdf(shape, rate * x),
    outcome: ({ posterior: [shape, rate] }, x) => betaCdf(shape, Math.floor(x) + 1, rate / (1 + rate)),
  },
  exponential: {
    mean: ({ posterior: [shape, rate] }, x) => x > 0 ? 1 - gammaCdf(shape, rate / x) : 0,
    outcome: ({ posterior: [shape, rate] }, x) => -Math.expm1(-shape * Math.log1p(x / rate)),
  },
  negative_binomial: {
    mean: ({ posterior: [a, b] }, x) => betaCdf(b, a, x / (x + model.outcome.size)),
    outcome: countCdf,
  },
};
function rateMixtureInterval(parts, kind) {
  const cdf = RATES[model.outcome.name][kind];
  let high = 1e-9;
  while (high < 1e300 && parts.some((part) => part.weight > 1e-7 && cdf(part, high) < 0.96)) {
    high *= 2;
    if (cdf === countCdf && high > MOST_COUNTED) return null;
  }
  const found = mixtureInterval(parts, cdf, 0, high);
  return kind === "outcome" && model.outcome.name !== "exponential" ? found.map(Math.round) : found;
}
function numberMixtureInterval(parts, kind) {  // of the mean or the outcome; null where it is not known
  if (!graph.posterior) return null;
  if (model.outcome.name in RATES) return rateMixtureInterval(parts, kind);
  const spread = kind === "mean" ? 2 : 3;
  const far = parts.map(({ posterior }) => [posterior[1], 60 * posterior[spread]]);
  const low = Math.min(...far.map(([place, room]) => place - room)), high = Math.max(...far.map(([place, room]) => place + room));
  const [mean] = averageOf(parts);
  return mixtureInterval(parts, ({ posterior }, x) => {
    const [freedom, place] = posterior;
    return studentCdf(freedom, (x - place) / posterior[spread]);
  }, low, high).map((end) => mean + model.widening * (end - mean));
}
