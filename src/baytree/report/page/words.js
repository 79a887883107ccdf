// Elements, and numbers for people: the twin of _words.py.
const $ = (id) => document.getElementById(id);
const SVG = new Set(["svg", "g", "path", "rect", "text", "tspan", "title", "circle", "line"]);
function make(tag, attributes = {}, ...content) {
  const element = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...content);
  return element;
}
function written(value, digits, groupedFrom = 10000) {
  if (value === null || !Number.isFinite(value)) return "not finite";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return Number(value.toPrecision(digits)).toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  const places = size === 0 ? 0 : Math.min(100, Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
  const [whole, rest = ""] = value.toFixed(places).split(".");
  const grouped = size >= groupedFrom ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole, decimals = rest.replace(/0+$/, "");
  const text = decimals ? `${grouped}.${decimals}` : grouped;
  return text === "-0" ? "0" : text;
}
const numberText = (value) => written(value, 6);
const counted = (value) => written(value, 6, 1000);
const estimateText = (value) => written(value, 4);
function percentText(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  if (share > 0.9995 && share < 1) return "> 99.9 %";
  return `${(100 * share).toFixed(1)} %`.replace(".0 %", " %");
}
const percentRange = ([low, high]) => `${percentText(low).replace(" %", "")} to ${percentText(high)}`;
const countText = (n, one, many = `${one}s`) => `${counted(n)} ${n === 1 ? one : many}`;

// Beta, gamma and Student distributions, for intervals.
function logGamma(x) {  // Stirling's series, from 15 up
  let below = 0;
  for (; x < 15; x++) below += Math.log(x);
  const i = 1 / (x * x);
  return (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + (1 / 12 - i * (1 / 360 - i * (1 / 1260 - i / 1680))) / x - below;
}
function betaCdf(a, b, x) {  // the continued fraction of the incomplete beta function
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(b, a, 1 - x);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300, keep = (v) => Math.abs(v) < tiny ? tiny : v;
  let c = 1, d = 1 / keep(1 - (a + b) * x / (a + 1)), h = d;
  for (let m = 1; m < 2000; m++) {
    for (const n of [m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / keep(1 + n * d);
      c = keep(1 + n / c);
      h *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-12) break;
  }
  return front * h;
}
function gammaCdf(a, x) {  // of scale 1: the series below the mean, the continued fraction above it
  if (x <= 0) return 0;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a, sum = term;
    for (let n = 1; n < 100000 && term > 1e-14 * sum; n++) sum += term *= x / (a + n);
    return front * sum;
  }
  let b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (let n = 1; n < 100000; n++) {
    const own = -n * (n - a);
    b += 2;
    d = 1 / (own * d + b);
    c = b + own / c;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-13) break;
  }
  return 1 - front * h;
}
function studentCdf(freedom, t) {
  const tail = 0.5 * betaCdf(freedom / 2, 0.5, freedom / (freedom + t * t));
  return t > 0 ? 1 - tail : tail;
}
function root(cdf, q, low, high) {  // of a rising function, by halving
  for (let i = 0; i < 60 && high - low > 1e-9 * Math.max(1e-6, Math.abs(low) + Math.abs(high)); i++) {
    const middle = (low + high) / 2;
    if (cdf(middle) < q) low = middle; else high = middle;
  }
  return (low + high) / 2;
}
const betaQuantile = (a, b, q) => root((x) => betaCdf(a, b, x), q, 0, 1);
function shareOf(hits, misses) {  // a share with the interval of its Beta posterior under Jeffreys' prior
  if (hits + misses <= 0) return null;
  const low = hits === 0 ? 0 : betaQuantile(hits + 0.5, misses + 0.5, 0.05);
  const high = misses === 0 ? 1 : betaQuantile(hits + 0.5, misses + 0.5, 0.95);
  return { estimate: hits / (hits + misses), low, high };
}
