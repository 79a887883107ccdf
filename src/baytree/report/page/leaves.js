// Leaves with terms, which predict from the values of a row: the twin of baytree/leaves.
const modelOf = (node) => graph.models ? graph.models[node] : null;
const product = (a, b) => a.reduce((sum, own, i) => sum + own * b[i], 0);
const square = (u, matrix) => product(u, matrix.map((line) => product(line, u)));  // u'Mu
const between = (value, low, high) => Math.min(Math.max(value, low ?? -Infinity), high ?? Infinity);
function scaledTerms({ terms }, row) {  // centred, scaled and clipped; 0 where a value is missing
  return terms.map(({ feature, kind, category, centre, scale, low, high }) => {
    const value = row[feature];
    if (kind === "value" && value === null) return 0;
    const term = kind === "value" ? value : Number(kind === "category" ? value === category : value === null);
    return between((between(term, low, high) - centre) / scale, -1e100, 1e100);
  });
}
function meanFor({ posterior, coefficient, covariance, limits }, z) {
  const [level, kappaOfLevel, alpha, beta] = posterior, mean = between(level + product(z, coefficient), ...limits);
  const kappa = 1 / (1 / kappaOfLevel + square(z, covariance)), noise = beta / alpha;
  const spreads = [Math.sqrt(noise / kappa), model.outcome.spread * Math.sqrt(noise * (kappa + 1) / kappa)];
  return { value: [mean], posterior: [2 * alpha, mean, ...spreads] };
}
function logitsIn({ coefficient, covariance }, z) {  // mean and covariance of the logits of the classes
  const u = [1, ...z], width = u.length, { contrasts } = model.leaves, places = contrasts[0].map((_, a) => a * width);
  const means = places.map((at) => product(u, coefficient.slice(at, at + width)));
  const spread = places.map((at) => places.map((to) => square(u, covariance.slice(at, at + width).map((line) => line.slice(to, to + width)))));
  return [contrasts.map((own) => product(own, means)), contrasts.map((own) => contrasts.map((next) => product(own, spread.map((line) => product(line, next)))))];
}
const strength = (ofOneRow, variance) => between(variance > 0 ? ofOneRow / variance - 1 : 1e9, 1e-3, 1e9);
const chance = (logit) => 1 / (1 + Math.exp(-logit));
function betaIn(mean, variance) {  // with the mean and the variance of a probability whose logit is normal
  const { points, weights, monotonic } = model.leaves, at = points.map((point) => mean + Math.sqrt(variance) * point);
  const value = [-1, 1].map((sign) => monotonic ? chance(sign * mean) : product(weights, at.map((logit) => chance(sign * logit))));
  const total = strength(value[0] * value[1], product(weights, at.map((logit) => (chance(logit) - value[1]) ** 2)));
  return { value, posterior: value.map((own) => own * total) };
}
function dirichletIn(mean, covariance) {
  const logits = mean.map((own, c) => own / Math.sqrt(1 + model.leaves.probit * covariance[c][c])), most = Math.max(...logits);
  const odds = logits.map((own) => Math.exp(own - most)), sum = odds.reduce((all, own) => all + own), value = odds.map((own) => own / sum);
  const slopes = value.map((p, c) => value.map((q, d) => p * (Number(c === d) - q)));
  const variance = slopes.reduce((all, slope) => all + square(slope, covariance), 0);
  const total = strength(value.reduce((all, p) => all + p * (1 - p), 0), variance);
  return { value, posterior: value.map((own) => own * total) };
}
function predictedIn(node, row) {  // the value and the parameters of the posterior of a row in a node
  const own = modelOf(node);
  if (!own) return { value: graph.value[node], posterior: graph.posterior ? graph.posterior[node] : null };
  const z = scaledTerms(own, row);
  if (!model.classes) return meanFor(own, z);
  const [mean, covariance] = logitsIn(own, z);
  return two ? betaIn(mean[1] - mean[0], 4 * covariance[1][1]) : dirichletIn(mean, covariance);
}
function effectsIn(leaf, row) {  // what the terms of a leaf add for a row, the largest first; null where several classes have effects
  const own = modelOf(leaf);
  if (!own || (model.classes && !two)) return null;
  const slopes = two ? own.coefficient.slice(1).map((slope) => Math.SQRT2 * slope) : own.coefficient;
  return scaledTerms(own, row).map((z, k) => ({ ...own.terms[k], effect: z * slopes[k] }))
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}
function effectText({ name, feature, kind, category, effect }, row) {
  const isTrue = kind === "category" ? row[feature] === category : row[feature] === null;
  const holds = kind === "value" ? `${name} = ${valueText(feature, row[feature])}` : `${name} (${isTrue ? "yes" : "no"})`;
  return two ? `${holds}: odds × ${estimateText(Math.exp(between(effect, -500, 500)))}` : `${holds}: ${effect < 0 ? "−" : "+"}${estimateText(Math.abs(effect))}`;
}
// Changes of one column where predictions change between thresholds too: its nearest value that leads to another decision.
const MOST_VALUES = 64;
function valuesOf(feature, row) {
  const { names, kind, low, high, isInteger } = model.features[feature], way = allowed.directions[feature] || 0, now = row[feature];
  if (names) return names.map((_, i) => i).filter((i) => i !== now && (now === null || way * (i - now) >= 0));
  if (low === null) return [];
  const at = tree.choices.flat().filter((split) => split.kind === "threshold" && split.feature === feature).map((split) => split.threshold);
  const grid = Array.from({ length: MOST_VALUES }, (_, i) => low + (high - low) * i / (MOST_VALUES - 1));
  const sides = [...at, ...grid].flatMap((x) => isInteger ? [Math.floor(x), Math.floor(x) + 1] : [x, nextAfter(x)]);
  return [...new Set([...sides, high])].filter((x) => x >= low && x <= high && x !== now && (now === null || way * (x - now) >= 0));
}
const withValue = (row, feature, value) => row.map((own, i) => i === feature ? value : own);
function nearerValue(feature, value, row, decision) {  // by halving, as long as the decision is another one
  const { names, isInteger } = model.features[feature];
  if (names || row[feature] === null) return value;
  let same = row[feature], flips = value;
  for (let i = 0; i < 60 && Math.abs(flips - same) > (isInteger ? 1 : 1e-12 * Math.abs(flips)); i++) {
    const middle = isInteger ? Math.floor((same + flips) / 2) : (same + flips) / 2;
    if (decisionOfRow(withValue(row, feature, middle)) === decision) same = middle; else flips = middle;
  }
  if (isInteger) return flips;
  const short = Array.from({ length: 15 }, (_, i) => Number(flips.toPrecision(i + 2)))  // as few digits as lead there
    .find((x) => (x - flips) * (flips - row[feature]) >= 0 && decisionOfRow(withValue(row, feature, x)) !== decision);
  return short ?? flips;
}
function changesAlone(row) {
  const decision = decisionOfRow(row), away = (feature, x) => row[feature] === null || model.features[feature].kind === "category" ? 1
    : Math.abs(x - row[feature]) / (model.scale[feature] || 1);
  return fields.filter((feature) => !allowed.immutable.has(feature)).map((feature) => {
    const flips = valuesOf(feature, row).filter((x) => decisionOfRow(withValue(row, feature, x)) !== decision);
    if (!flips.length) return null;
    const first = flips.reduce((best, x) => away(feature, x) < away(feature, best) ? x : best), value = nearerValue(feature, first, row, decision);
    const text = `${model.features[feature].name} from ${valueText(feature, row[feature])} to ${valueText(feature, value)}`;
    return { distance: away(feature, value), text, changed: withValue(row, feature, value) };
  }).filter(Boolean).sort((a, b) => a.distance - b.distance).slice(0, allowed.nChanges);
}
