// Another threshold: what it would decide, how often it is wrong and what that costs.
const listeners = [];  // what is drawn anew when the threshold moves
function setText(id, text) { $(id).textContent = text; }
function movePoint(id, x, y) {
  const chart = $(id);
  if (!chart || !x || !y) return;
  const [left, right, top, bottom] = chart.dataset.place.split(" ").map(Number);
  const across = (value) => left + (right - left) * value, up = (value) => bottom - (bottom - top) * value;
  const cx = across(x.estimate), cy = up(y.estimate);
  const ends = `M${across(x.low)} ${cy} H${across(x.high)} M${cx} ${up(y.low)} V${up(y.high)}`;
  chart.querySelector("g").replaceChildren(make("path", { class: "cross", d: ends }), make("circle", { class: "here", cx, cy, r: 6 }));
}
function countsAt(found, i) {
  const tp = found.truePositives[i], fp = found.falsePositives[i];
  return { tp, fp, fn: found.positives - tp, tn: found.negatives - fp };
}
function showThreshold(i) {
  const found = model.thresholds, { tp, fp, fn, tn } = countsAt(found, i);
  // At the model's own place its own rule holds, costs and ties included.
  threshold = i === found.own ? model.decision.threshold : found.at[i];
  setText("threshold-text", percentText(found.at[i]));
  for (const [id, n] of Object.entries({ tp, fp, fn, tn })) setText(id, counted(n));
  const rates = [shareOf(tp, fn), shareOf(tn, fp), shareOf(tp, fp), shareOf(tn, fn), shareOf(tp + fp, fn + tn), shareOf(tp + tn, fp + fn)];
  rates.forEach((rate, k) => {
    setText(`rate-${k}`, rate ? percentText(rate.estimate) : "–");
    setText(`rate-${k}-interval`, rate ? percentRange([rate.low, rate.high]) : "");
  });
  const wrongly = shareOf(fp, tn);
  movePoint("roc", wrongly, rates[0]);
  movePoint("recall", rates[0], rates[2]);
  showCost(i);
  model.subgroups.forEach((group, k) => { if (group) showSubgroup(group, k, i); });
  showImpacts(i);
  listeners.forEach((listener) => listener());
}
function showCost(i) {
  const [missed, wrong] = ["cost-fn", "cost-fp"].map((id) => Number($(id).value.replace(",", ".")));
  ["cost-fn", "cost-fp"].forEach((id) => $(id).setAttribute("aria-invalid", !Number.isFinite(Number($(id).value.replace(",", ".")))));
  const found = model.thresholds, own = model.decision.costs || [[0, 1], [1, 0]], n = found.positives + found.negatives;
  const meanAt = (k) => {
    const { tp, fp, fn, tn } = countsAt(found, k);
    const parts = [[tn, own[other][other]], [fp, wrong], [fn, missed], [tp, own[positive][positive]]];
    const mean = parts.reduce((sum, [count, cost]) => sum + count * cost, 0) / n;
    const spread = parts.reduce((sum, [count, cost]) => sum + count * (cost - mean) ** 2, 0) / n;
    return [mean, 1.6448536269514722 * Math.sqrt(spread / Math.max(n - 1, 1))];
  };
  if (!Number.isFinite(missed) || !Number.isFinite(wrong)) { setText("cost", "Enter the costs as numbers."); setText("cheapest", ""); return; }
  const [mean, half] = meanAt(i);
  setText("cost", `Mean cost per row: ${estimateText(mean)} (90 % between ${estimateText(mean - half)} and ${estimateText(mean + half)})`);
  const best = found.at.reduce((least, _, k) => meanAt(k)[0] < meanAt(least)[0] ? k : least, 0);
  setText("cheapest", `On these rows, the cost is lowest at a threshold of ${percentText(found.at[best])}: ${estimateText(meanAt(best)[0])} per row.`);
}
function showSubgroup(group, k, i) {
  const { tp, fp, fn, tn } = countsAt(group, i);
  const figures = { decided: shareOf(tp + fp, fn + tn), missed: shareOf(fn, tp), wrongly: shareOf(fp, tn), right: shareOf(tp + tn, fp + fn) };
  for (const [name, figure] of Object.entries(figures)) {
    const cell = $(`group-${k}-${name}`);
    cell.replaceChildren(...(figure ? [percentText(figure.estimate), make("br"), make("small", {}, percentRange([figure.low, figure.high]))] : ["–"]));
    const dot = cell.parentElement.querySelector("svg.dot");
    if (!dot || !figure) continue;
    const x = (value) => 4 + 112 * value;
    dot.querySelector(".range").setAttribute("d", `M${x(figure.low)} 7 H${x(figure.high)}`);
    dot.querySelector(".mark").setAttribute("cx", x(figure.estimate));
  }
}
function ratioOfShares([hits, n], [otherHits, otherN]) {  // with Katz's interval of its logarithm: the twin of _impact.py
  if (n <= 0 || otherN <= 0 || otherHits <= 0) return null;
  const centre = Math.log((hits + 0.5) / (n + 0.5)) - Math.log((otherHits + 0.5) / (otherN + 0.5));
  const variance = 1 / (hits + 0.5) - 1 / (n + 0.5) + 1 / (otherHits + 0.5) - 1 / (otherN + 0.5);
  const half = 1.6448536269514722 * Math.sqrt(Math.max(variance, 0)), estimate = hits / n / (otherHits / otherN);
  return { estimate, low: hits === 0 ? 0 : Math.min(Math.exp(centre - half), estimate), high: Math.max(Math.exp(centre + half), estimate) };
}
function showImpacts(i) {  // relative to the group of the column with the highest rate, the first among equals
  const counts = model.subgroups.map((group) => group && (({ tp, fp, fn, tn }) => [fn + tn, tp + fp + fn + tn])(countsAt(group, i)));
  model.subgroups.forEach((group, k) => {
    if (!group) return;
    const same = model.subgroups.map((_, j) => j).filter((j) => model.subgroups[j] && model.subgroups[j].column === group.column);
    const rate = (j) => counts[j][0] / counts[j][1], best = same.reduce((most, j) => rate(j) > rate(most) ? j : most);
    const ratio = k === best ? { estimate: 1, low: null } : ratioOfShares(counts[k], counts[best]), cell = $(`group-${k}-impact`);
    const interval = ratio && ratio.low !== null ? [make("br"), make("small", {}, `${estimateText(ratio.low)} to ${estimateText(ratio.high)}`)] : [];
    cell.replaceChildren(...(ratio ? [estimateText(ratio.estimate), ...interval] : ["–"]));
    cell.parentElement.querySelector("svg.dot")?.remove();
  });
}
if (model.thresholds) {
  $("threshold").addEventListener("input", () => showThreshold(Number($("threshold").value)));
  $("threshold-own").addEventListener("click", () => { $("threshold").value = model.thresholds.own; showThreshold(model.thresholds.own); });
  for (const id of ["cost-fn", "cost-fp"]) $(id).addEventListener("input", () => showCost(Number($("threshold").value)));
  showCost(model.thresholds.own);
}
