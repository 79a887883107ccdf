#include "leaves/logistic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "leaves/choice.hpp"
#include "math/dot.hpp"
#include "math/log_gamma.hpp"
#include "types.hpp"

namespace baytree {

namespace {

constexpr std::size_t kScreened = 2;      // terms by score test that are fitted in each step
constexpr std::size_t kSomeRows = 1000;   // from here on one
constexpr std::size_t kManyRows = 10000;  // from here on the first terms are chosen on every so manieth row
constexpr std::size_t kFewRows = 2500;    // that there are of these
constexpr int kMostIterations = 30;
constexpr double kLongestStep = 4.0;
constexpr double kSettled = 1e-7;

// Solves with the factor of a symmetric positive matrix, row by row; false where it has none.
bool factorise(std::vector<double>& matrix, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double sum = matrix[i * n + j] - dot(&matrix[i * n], &matrix[j * n], j);
      if (i != j) matrix[i * n + j] = sum / matrix[j * n + j];
      else if (sum > 0.0) matrix[i * n + i] = std::sqrt(sum);
      else return false;
    }
  return true;
}

void solve(const std::vector<double>& factor, std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= factor[k * n + i] * x[k];
    x[i] /= factor[i * n + i];
  }
}

// The rows of a leaf. Coefficients are by contrast, and for each contrast the intercept and the chosen terms.
struct Problem {
  const TermColumns& terms;
  std::span<const std::int64_t> classes;  // by row
  std::span<const double> weights;        // none: all of 1
  std::size_t n_classes;
  std::vector<double> contrasts;
  std::span<const Term> all;

  std::size_t n_rows() const { return classes.size(); }
  std::size_t n_contrasts() const { return n_classes - 1; }
  const Term& term(std::size_t j) const { return all[terms.scales[j].term]; }
  double weight(std::size_t i) const { return weights.empty() ? 1.0 : weights[i]; }
  double contrast(std::size_t c, std::size_t a) const { return contrasts[c * n_contrasts() + a]; }
};

struct Mode {
  std::vector<std::size_t> chosen;
  std::vector<double> coefficient;    // at the mode
  std::vector<double> factor;         // of the negative second derivative there
  std::vector<double> probabilities;  // row by row
  double log_evidence = -std::numeric_limits<double>::infinity();
};

// Of two classes: log odds column after column, and one exponential a row.
double set_probabilities_of_two(const Problem& problem, Mode& mode) {
  const std::size_t n = problem.n_rows();
  mode.probabilities.resize(2 * n);
  std::vector<double> log_odds(n, std::sqrt(2.0) * mode.coefficient[0]);
  for (std::size_t k = 0; k < mode.chosen.size(); ++k) {
    const double slope = std::sqrt(2.0) * mode.coefficient[k + 1];
    const double* z = problem.terms.column(mode.chosen[k]).data();
    for (std::size_t i = 0; i < n; ++i) log_odds[i] += slope * z[i];
  }
  double log_likelihood = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double less = std::exp(-std::abs(log_odds[i])), likely = 1.0 / (1.0 + less), unlikely = less * likely;
    const bool is_first_likely = log_odds[i] < 0.0;
    mode.probabilities[2 * i] = is_first_likely ? likely : unlikely;
    mode.probabilities[2 * i + 1] = is_first_likely ? unlikely : likely;
    const bool is_likely = (problem.classes[i] == 0) == is_first_likely;
    log_likelihood -= problem.weight(i) * (std::log1p(less) + (is_likely ? 0.0 : std::abs(log_odds[i])));
  }
  return log_likelihood;
}

// Sets the probabilities of all rows; returns the log likelihood.
double set_probabilities(const Problem& problem, Mode& mode) {
  if (problem.n_classes == 2) return set_probabilities_of_two(problem, mode);
  const std::size_t n = problem.n_rows(), c_all = problem.n_classes, width = mode.chosen.size() + 1;
  mode.probabilities.resize(n * c_all);
  std::vector<double> by_class(c_all * width);  // coefficients
  for (std::size_t c = 0; c < c_all; ++c)
    for (std::size_t k = 0; k < width; ++k)
      for (std::size_t a = 0; a < problem.n_contrasts(); ++a)
        by_class[c * width + k] += problem.contrast(c, a) * mode.coefficient[a * width + k];
  double log_likelihood = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    double* p = mode.probabilities.data() + i * c_all;
    double top = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < c_all; ++c) {
      p[c] = by_class[c * width];
      for (std::size_t k = 1; k < width; ++k)
        p[c] += by_class[c * width + k] * problem.terms.column(mode.chosen[k - 1])[i];
      top = std::max(top, p[c]);
    }
    double sum = 0.0;
    const double log_odds = p[static_cast<std::size_t>(problem.classes[i])] - top;
    for (std::size_t c = 0; c < c_all; ++c) sum += p[c] = std::exp(p[c] - top);
    for (std::size_t c = 0; c < c_all; ++c) p[c] /= sum;
    log_likelihood += problem.weight(i) * (log_odds - std::log(sum));
  }
  return log_likelihood;
}

// How much a contrast of the classes of a row exceeds its expectation.
double excess(const Problem& problem, const Mode& mode, std::size_t i, std::size_t a) {
  const double* p = mode.probabilities.data() + i * problem.n_classes;
  double result = problem.contrast(static_cast<std::size_t>(problem.classes[i]), a);
  for (std::size_t c = 0; c < problem.n_classes; ++c) result -= p[c] * problem.contrast(c, a);
  return result;
}

// Covariance of two contrasts under the probabilities of a row.
double covariance(const Problem& problem, const double* p, std::size_t a, std::size_t b) {
  double both = 0.0, one = 0.0, other = 0.0;
  for (std::size_t c = 0; c < problem.n_classes; ++c) {
    both += p[c] * problem.contrast(c, a) * problem.contrast(c, b);
    one += p[c] * problem.contrast(c, a);
    other += p[c] * problem.contrast(c, b);
  }
  return both - one * other;
}

// Of each row, by contrast: how much it exceeds its expectation, times its weight.
std::vector<double> excesses(const Problem& problem, const Mode& mode) {
  const std::size_t n = problem.n_rows();
  std::vector<double> result(n * problem.n_contrasts());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < problem.n_contrasts(); ++a)
      result[a * n + i] = problem.weight(i) * excess(problem, mode, i, a);
  return result;
}

// Of each row: the covariance of two contrasts, times its weight.
void set_covariances(const Problem& problem, const Mode& mode, std::size_t a, std::size_t b,
                     std::vector<double>& result) {
  const std::size_t n = problem.n_rows();
  const double* p = mode.probabilities.data();
  result.resize(n);
  if (problem.n_classes == 2)
    for (std::size_t i = 0; i < n; ++i) result[i] = 2.0 * problem.weight(i) * p[2 * i] * p[2 * i + 1];
  else
    for (std::size_t i = 0; i < n; ++i)
      result[i] = problem.weight(i) * covariance(problem, p + i * problem.n_classes, a, b);
}

double precision(std::size_t k) {
  return 2.0 / (k == 0 ? LogisticLeafModels::kLevelVariance : LogisticLeafModels::kSlopeVariance);
}

// The gradient and the lower half of the negative second derivative of the log posterior, column by column.
void differentiate(const Problem& problem, const Mode& mode, std::vector<double>& gradient,
                   std::vector<double>& curvature) {
  const std::size_t n = problem.n_rows(), n_contrasts = problem.n_contrasts();
  const std::size_t width = mode.chosen.size() + 1, m = width * n_contrasts;
  gradient.assign(m, 0.0);
  curvature.assign(m * m, 0.0);
  const std::vector<double> ones(n, 1.0), more = excesses(problem, mode);
  const auto z = [&](std::size_t k) { return k == 0 ? ones.data() : problem.terms.column(mode.chosen[k - 1]).data(); };
  std::vector<double> variance, scaled(n);
  for (std::size_t a = 0; a < n_contrasts; ++a) {
    for (std::size_t k = 0; k < width; ++k) gradient[a * width + k] = dot(more.data() + a * n, z(k), n);
    for (std::size_t b = 0; b <= a; ++b) {
      set_covariances(problem, mode, a, b, variance);
      for (std::size_t k = 0; k < width; ++k) {
        for (std::size_t i = 0; i < n; ++i) scaled[i] = variance[i] * z(k)[i];
        double* row = &curvature[(a * width + k) * m + b * width];
        for (std::size_t l = 0; l < (a == b ? k + 1 : width); ++l) row[l] = dot(scaled.data(), z(l), n);
      }
    }
  }
  for (std::size_t j = 0; j < m; ++j) {
    gradient[j] -= precision(j % width) * mode.coefficient[j];
    curvature[j * m + j] += precision(j % width);
  }
}

double log_prior(const Mode& mode) {
  const std::size_t width = mode.chosen.size() + 1;
  double result = 0.0;
  for (std::size_t j = 0; j < mode.coefficient.size(); ++j)
    result += 0.5 * (std::log(precision(j % width)) - precision(j % width) * mode.coefficient[j] * mode.coefficient[j]);
  return result;
}

// Newton's method with halved steps; fills the evidence without the prior of the choice.
void find_mode(const Problem& problem, Mode& mode) {
  const std::size_t m = mode.coefficient.size();
  std::vector<double> step;
  double log_posterior = set_probabilities(problem, mode) + log_prior(mode);
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    differentiate(problem, mode, step, mode.factor);
    if (!factorise(mode.factor, m)) return;
    solve(mode.factor, m, step.data());
    double longest = 0.0;
    for (const double change : step) longest = std::max(longest, std::abs(change));
    double length = std::min(1.0, kLongestStep / std::max(longest, 1e-300));
    const std::vector<double> before = mode.coefficient;
    double now = log_posterior;
    for (int half = 0; half < 20; ++half, length *= 0.5) {
      for (std::size_t j = 0; j < m; ++j) mode.coefficient[j] = before[j] + length * step[j];
      now = set_probabilities(problem, mode) + log_prior(mode);
      if (now >= log_posterior - 1e-9 * (1.0 + std::abs(log_posterior))) break;
    }
    log_posterior = now;
    if (longest * length < kSettled || (iteration > 0 && longest < 1e-3)) break;
  }
  differentiate(problem, mode, step, mode.factor);
  if (!factorise(mode.factor, m)) return;
  mode.log_evidence = log_posterior;
  for (std::size_t j = 0; j < m; ++j) mode.log_evidence -= std::log(mode.factor[j * m + j]);
}

// Whether the log odds of the second of two classes rise and fall with the terms as they must.
bool keeps_directions(const Problem& problem, const Mode& mode) {
  for (std::size_t k = 0; k < mode.chosen.size(); ++k)
    if (!has_direction(problem.term(mode.chosen[k]), mode.coefficient[k + 1])) return false;
  return true;
}

// A mode with one term more, to start from.
Mode extended(const Mode& mode, std::size_t term, std::size_t n_contrasts) {
  Mode result;
  result.chosen = mode.chosen;
  result.chosen.push_back(term);
  const std::size_t width = mode.chosen.size() + 1;
  for (std::size_t a = 0; a < n_contrasts; ++a) {
    const auto first = mode.coefficient.begin() + static_cast<std::ptrdiff_t>(a * width);
    result.coefficient.insert(result.coefficient.end(), first, first + static_cast<std::ptrdiff_t>(width));
    result.coefficient.push_back(0.0);
  }
  return result;
}

// The terms in the order of their scores: the gain in evidence that a step in each alone would bring.
std::vector<std::size_t> by_score(const Problem& problem, const Mode& mode) {
  const std::size_t n = problem.n_rows(), n_contrasts = problem.n_contrasts();
  const std::vector<double> more = excesses(problem, mode);
  std::vector<std::vector<double>> variance(n_contrasts);
  for (std::size_t a = 0; a < n_contrasts; ++a) set_covariances(problem, mode, a, a, variance[a]);
  std::vector<double> squares(n);
  std::vector<std::pair<double, std::size_t>> scores;
  for (std::size_t j = 0; j < problem.terms.size(); ++j) {
    if (std::find(mode.chosen.begin(), mode.chosen.end(), j) != mode.chosen.end()) continue;
    const auto z = problem.terms.column(j);
    for (std::size_t i = 0; i < n; ++i) squares[i] = z[i] * z[i];
    double score = 2.0 * problem.term(j).log_weight;
    bool has_directions = true;  // the coefficient at the mode has that of the step
    for (std::size_t a = 0; a < n_contrasts; ++a) {
      const double slope = dot(more.data() + a * n, z.data(), n);
      const double information = precision(1) + dot(variance[a].data(), squares.data(), n);
      score += slope * slope / information - std::log(information);
      has_directions = has_directions && has_direction(problem.term(j), slope);
    }
    if (has_directions) scores.push_back({-without_rounding_error(score), j});
  }
  std::sort(scores.begin(), scores.end());
  std::vector<std::size_t> result;
  for (const auto& [score, term] : scores) result.push_back(term);
  return result;
}

// The best extension of a mode by one term, of the few that score highest.
std::optional<Mode> best_extension(const Problem& problem, const TermChoice& choice, const Mode& mode,
                                   double of_weights) {
  std::optional<Mode> best;
  std::size_t n_more = problem.n_rows() > kSomeRows ? 1 : kScreened;
  for (const std::size_t term : by_score(problem, mode)) {
    Mode tried = extended(mode, term, problem.n_contrasts());
    find_mode(problem, tried);
    if (!keeps_directions(problem, tried)) continue;
    tried.log_evidence += choice.log_prior(tried.chosen.size()) + of_weights + problem.term(term).log_weight;
    if (!best || is_higher(tried.log_evidence, best->log_evidence)) best = std::move(tried);
    if (--n_more == 0) break;
  }
  return best;
}

// Adds terms to the first ones as long as they raise the evidence, `constant` without any; no terms: they do not. The
// evidence of the result has the prior of the choice.
Mode choose_terms(const Problem& problem, const TermChoice& choice, std::vector<std::size_t> first, double constant) {
  Mode best;
  double of_weights = 0.0;
  for (const std::size_t term : first) of_weights += problem.term(term).log_weight;
  best.chosen = std::move(first);
  best.coefficient.assign(problem.n_contrasts() * (best.chosen.size() + 1), 0.0);
  find_mode(problem, best);
  best.log_evidence += choice.log_prior(best.chosen.size()) + of_weights;
  if (best.chosen.empty()) best.log_evidence = constant;
  else if (!keeps_directions(problem, best)) return choose_terms(problem, choice, {}, constant);
  else if (!is_higher(best.log_evidence, constant)) return {};
  while (best.chosen.size() < choice.most()) {
    std::optional<Mode> next = best_extension(problem, choice, best, of_weights);
    if (!next || !is_higher(next->log_evidence, best.log_evidence)) break;
    of_weights += problem.term(next->chosen.back()).log_weight;
    best = std::move(*next);
  }
  return best;
}

// Of a symmetric matrix that is factorised.
std::vector<double> inverse(const std::vector<double>& factor, std::size_t n) {
  std::vector<double> result(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    result[j * n + j] = 1.0;
    solve(factor, n, &result[j * n]);
  }
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < j; ++k)
      result[j * n + k] = result[k * n + j] = 0.5 * (result[j * n + k] + result[k * n + j]);
  return result;
}

// Evenly, in the order of the rows.
std::vector<Row> every_so_manieth(std::span<const Row> rows) {
  std::vector<Row> result(kFewRows);
  for (std::size_t i = 0; i < kFewRows; ++i) result[i] = rows[i * rows.size() / kFewRows];
  return result;
}

}  // namespace

std::vector<double> class_contrasts(std::size_t n_classes) {
  std::vector<double> result(n_classes * (n_classes - 1));
  for (std::size_t a = 0; a + 1 < n_classes; ++a) {
    const double k = static_cast<double>(a + 1), length = std::sqrt(k * (k + 1.0));
    for (std::size_t c = 0; c <= a; ++c) result[c * (n_classes - 1) + a] = -1.0 / length;
    result[(a + 1) * (n_classes - 1) + a] = k / length;
  }
  return result;
}

double LogisticLeafModels::log_constant(const std::vector<double>& counts) const {
  double before = 0.0, after = 0.0, result = 0.0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    before += prior_[c], after += prior_[c] + counts[c];
    result += log_gamma(prior_[c] + counts[c]) - log_gamma(prior_[c]);
  }
  return result + log_gamma(before) - log_gamma(after);
}

void LogisticLeafModels::read_weights(std::span<const Row> rows, LeafScratch& scratch) const {
  scratch.weights.resize(weights_.empty() ? 0 : rows.size());
  for (std::size_t i = 0; i < scratch.weights.size(); ++i) scratch.weights[i] = weights_[rows[i]];
}

LeafModel LogisticLeafModels::fit(std::span<const Row> rows, LeafScratch& scratch) const {
  std::vector<std::int64_t> classes(rows.size());
  std::vector<double> counts(prior_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    classes[i] = classes_[rows[i]];
    counts[static_cast<std::size_t>(classes[i])] += weights_.empty() ? 1.0 : weights_[rows[i]];
  }
  // Many rows have the terms that some of them have, and more.
  std::vector<TermScale> of_some;
  if (rows.size() > kManyRows) of_some = fit(every_so_manieth(rows), scratch).terms;
  read_weights(rows, scratch);
  read_terms(columns_, terms_, rows, scratch.weights, scratch.terms);
  const TermChoice choice(scratch.terms.size(), most_terms_, kChoiceShare);
  LeafModel model;
  for (std::size_t c = 0; c < counts.size(); ++c) model.level.push_back(prior_[c] + counts[c]);
  model.log_evidence = log_constant(counts) + choice.log_prior(0);
  const auto present = std::count_if(counts.begin(), counts.end(), [](double n) { return n >= kFewestOfClass; });
  const double weight = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (choice.most() == 0 || counts.size() > kMostClasses || present < 2 || weight < kFewestWeight) return model;

  std::vector<std::size_t> first;
  for (const TermScale& scale : of_some)
    for (std::size_t j = 0; j < scratch.terms.size(); ++j)
      if (scratch.terms.scales[j].term == scale.term) first.push_back(j);
  const Problem problem{scratch.terms, classes, scratch.weights, counts.size(), class_contrasts(counts.size()), terms_};
  Mode mode = choose_terms(problem, choice, std::move(first), model.log_evidence);
  if (mode.chosen.empty()) return model;
  model.log_evidence = mode.log_evidence;
  for (const std::size_t j : mode.chosen) model.terms.push_back(scratch.terms.scales[j]);
  model.covariance = inverse(mode.factor, mode.coefficient.size());
  model.coefficient = std::move(mode.coefficient);
  return model;
}

std::vector<double> LogisticLeafModels::probabilities(const LeafModel& model, std::span<const Row> rows,
                                                      LeafScratch& scratch) const {
  const std::size_t n = rows.size(), n_classes = prior_.size(), width = model.terms.size() + 1;
  std::vector<double> result(n * n_classes);
  if (model.terms.empty()) {
    const double sum = std::accumulate(model.level.begin(), model.level.end(), 0.0);
    for (std::size_t i = 0; i < n * n_classes; ++i) result[i] = model.level[i / n] / sum;
    return result;
  }
  const std::vector<double> contrasts = class_contrasts(n_classes);
  std::vector<double> by_row(columns_.n_rows), coefficients(width - 1), sums(n);
  for (std::size_t c = 0; c < n_classes; ++c) {
    double level = 0.0;
    std::fill(coefficients.begin(), coefficients.end(), 0.0);
    for (std::size_t a = 0; a + 1 < n_classes; ++a) {
      const double contrast = contrasts[c * (n_classes - 1) + a];
      level += contrast * model.coefficient[a * width];
      for (std::size_t k = 1; k < width; ++k) coefficients[k - 1] += contrast * model.coefficient[a * width + k];
    }
    for (const Row row : rows) by_row[row] = level;
    add_terms(columns_, terms_, model.terms, coefficients, rows, 1.0, scratch.work, by_row);
    for (std::size_t i = 0; i < n; ++i) {
      result[c * n + i] = std::exp(std::clamp(by_row[rows[i]], -300.0, 300.0));
      sums[i] += result[c * n + i];
    }
  }
  for (std::size_t i = 0; i < n * n_classes; ++i) result[i] /= sums[i % n];
  return result;
}

LinearForm LogisticLeafModels::form(const LeafModel& model) const {
  if (model.terms.empty()) return {std::log(model.level[1]) - std::log(model.level[0]), {}};
  LinearForm result{std::sqrt(2.0) * model.coefficient[0], {}};
  for (std::size_t k = 1; k < model.coefficient.size(); ++k)
    result.slopes.push_back(std::sqrt(2.0) * model.coefficient[k]);
  return result;
}

void LogisticLeafModels::residuals(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                                   std::vector<double>& by_row) const {
  const std::vector<double> p = probabilities(model, rows, scratch);
  const std::size_t n = rows.size(), n_classes = prior_.size();
  std::size_t worst = 1;
  double most = -1.0;
  for (std::size_t c = n_classes == 2 ? 1 : 0; c < n_classes; ++c) {
    double squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double is_class = static_cast<std::size_t>(classes_[rows[i]]) == c ? 1.0 : 0.0;
      squares += (weights_.empty() ? 1.0 : weights_[rows[i]]) * (is_class - p[c * n + i]) * (is_class - p[c * n + i]);
    }
    if (is_higher(squares, most)) most = squares, worst = c;
  }
  for (std::size_t i = 0; i < n; ++i)
    by_row[rows[i]] = (static_cast<std::size_t>(classes_[rows[i]]) == worst ? 1.0 : 0.0) - p[worst * n + i];
}

void LogisticLeafModels::log_densities(const LeafModel& model, std::span<const Row> rows, LeafScratch& scratch,
                                       std::vector<double>& by_row) const {
  const std::vector<double> p = probabilities(model, rows, scratch);
  for (std::size_t i = 0; i < rows.size(); ++i)
    by_row[rows[i]] = std::log(std::max(p[static_cast<std::size_t>(classes_[rows[i]]) * rows.size() + i], 1e-300));
}

}  // namespace baytree
