// The search for the best hyperplane of a node: a x glucose + b x bmi <= t.
//
// Directions come from least squares: what the outcome orders rows by (the indicator of a class, the value, the rate)
// on the features, standardised in the node, with a small ridge. For two classes this is the direction of Fisher's
// discriminant. The moments of the node hold all that it takes, so to go from all features down to a few is to solve
// small systems: the features with the smallest coefficients leave, and the rest is fitted again. Every direction gets
// its best threshold; the best is turned, shaken and turned again. In a large node this happens on few of the rows,
// what was found is turned once more on many, and gets its threshold from all of them; the moments are those of all
// rows or, in a forest, of the few too. Missing values take the mean of the rows that directions are fitted to;
// categorical features, and those that predictions must rise or fall with, take no part.
//
// The prior draws the number of features k, then one of the choices of k out of the D that can take part, then one of
// the ways in which a hyperplane divides m points in k dimensions, of which there are C(m - 1, 1) + ... + C(m - 1, k)
// (Cover 1965); m counts the different points in the columns that hyperplanes can use. With k = 1 that is m - 1, the
// number of thresholds of one feature: those pay by the same rule.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "data/columns.hpp"
#include "outcomes/outcome.hpp"
#include "parallel.hpp"
#include "partitions/category_sets.hpp"
#include "partitions/directions.hpp"
#include "partitions/hyperplane.hpp"
#include "partitions/node.hpp"
#include "partitions/partition_list.hpp"
#include "partitions/prior.hpp"

namespace baytree {

inline constexpr double kWithinReach = 10.0;  // nats

struct HyperplaneSearchScratch {
  Points points;  // the rows that directions are fitted to
  std::vector<Row> fitted, fitted_rows;  // which they are, in the node and in the table, where they are not all
  std::vector<std::size_t> orders;  // of the outcome, that directions are fitted to
  Moments moments;  // with each of them
  std::vector<double> log_prior;  // by the number of features
  std::vector<HyperplaneScratch> threads;  // one for each
};

namespace detail {

// log of C(n, 1) + ... + C(n, k).
inline double log_hyperplane_splits(std::size_t n_points, std::size_t k) {
  const std::size_t n = n_points - 1;
  double sum = 0.0, top = 0.0;
  for (std::size_t i = 1; i <= std::min(n, k); ++i) top = std::max(top, log_choose(n, i));
  for (std::size_t i = 1; i <= std::min(n, k); ++i) sum += std::exp(log_choose(n, i) - top);
  return top + std::log(sum);
}

}  // namespace detail

// Finds the best hyperplane of a node.
template <Outcome T>
class HyperplaneSearch {
 public:
  HyperplaneSearch(const Columns& columns, const ScoredNode<T>& scored, std::span<const Row> rows,
                   const Settings& settings, HyperplaneSearchScratch& scratch, std::size_t n_threads = 1)
      : columns_(columns), scored_(scored), rows_(rows), settings_(settings), scratch_(scratch) {
    scratch_.threads.resize(n_threads);
  }

  // `rival` is the score of the best other partition: what is far below it is not worth much effort.
  BestHyperplane find(double rival) {
    gather();
    if (points().features.size() < 2) return {};
    find_all_moments();
    find_log_prior();
    CandidatePlane best = among(effort().few_rows, rival,
                                [&](PointSplitter<T>& splitter, double score) { return search(splitter, score); });
    auto turn_again = [&](PointSplitter<T>& splitter, double score) {
      CandidatePlane again = splitter.best_along(best.parts, best.coefficients, best.order);
      return again.score() > score - kWithinReach ? splitter.climb(std::move(again), 1, kMinusInfinity) : again;
    };
    if (n() > effort().few_rows && !fits_few() && best.exists()) best = among(effort().many_rows, rival, turn_again);
    if (n() > (fits_few() ? effort().few_rows : effort().many_rows) && best.exists()) best = split_all(best);
    if (best.exists() && effort().round_off) round_off(points(), best, scratch_.threads[0].projection);
    return {settings_.oblique.share, partition_of(best)};
  }

 private:
  std::size_t n() const { return rows_.size(); }
  double weight(std::size_t i) const { return static_cast<double>(scored_.outcome.weight_of(i)); }
  const Points& points() const { return scratch_.points; }
  const HyperplaneEffort& effort() const { return settings_.oblique.effort; }
  // Whether directions are fitted to few of the rows.
  bool fits_few() const { return effort().fit_few && n() > effort().few_rows; }

  std::size_t fitted(std::size_t i) const { return fits_few() ? scratch_.fitted[i] : i; }

  std::vector<double>& fitted_weight() { return scratch_.threads[0].weight(); }

  // So many of the rows of the node, evenly spread.
  void spread(std::size_t most, std::vector<Row>& chosen) const {
    chosen.resize(std::min(most, n()));
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = static_cast<Row>(i * n() / chosen.size());
  }

  // The values of the features that vary here.
  void gather() {
    auto& s = scratch_;
    Points& p = s.points;
    p.n = fits_few() ? effort().few_rows : n();
    if (fits_few()) {
      spread(p.n, s.fitted);
      s.fitted_rows.resize(p.n);
      for (std::size_t i = 0; i < p.n; ++i) s.fitted_rows[i] = rows_[s.fitted[i]];
    }
    fitted_weight().resize(p.n);
    for (std::size_t i = 0; i < p.n; ++i) fitted_weight()[i] = weight(fitted(i));
    p.features.clear(), p.mean.clear(), p.standard.clear();
    p.x.resize(columns_.columns.size());
    for (std::size_t f = 0; f < columns_.columns.size(); ++f) {
      const Column& column = columns_.columns[f];
      if (column.is_categorical || column.n_codes < 2 || !settings_.rules.in_hyperplanes(f)) continue;
      stop_if_asked();
      std::vector<double>& x = p.x[p.features.size()];
      if (x.size() < p.n) x = std::vector<double>(p.n);
      column.read(fits_few() ? s.fitted_rows : rows_, x.data());
      if (describe(x.data())) p.features.push_back(f);
    }
  }

  // Fills the missing values of a feature and adds what Points knows of it; false where it cannot take part.
  bool describe(double* x) {
    const double* weight = fitted_weight().data();
    const std::size_t size = points().n;
    auto present = [=](std::size_t i) BAYTREE_INLINE { return x[i] == x[i] ? weight[i] : 0.0; };
    auto of_present = [=](std::size_t i) BAYTREE_INLINE { return x[i] == x[i] ? weight[i] * x[i] : 0.0; };
    const double total = detail::sum_of(size, present), mean = detail::sum_of(size, of_present) / total;
    for (std::size_t i = 0; i < size; ++i) x[i] = x[i] == x[i] ? x[i] : mean;
    const Standard standard = standardise(x, fitted_weight(), detail::bounds_of({x, size}, effort().n_values));
    // Values that vary by no more than rounding, or that are too large to be squared, take no part.
    const double least = std::max(1e-150, 1e-12 * std::abs(standard.centre));
    if (!(total > 0.0 && standard.scale > least && standard.scale < 1e150)) return false;
    scratch_.points.mean.push_back(mean);
    scratch_.points.standard.push_back(standard);
    return true;
  }

  void find_all_moments() {
    scratch_.orders = orders_of(scored_.outcome, scored_.node.statistics.data(), effort().most_responses);
    std::vector<std::size_t> parts(points().features.size());
    std::iota(parts.begin(), parts.end(), std::size_t{0});
    Responses<T> responses(scored_, fits_few() ? std::span<const Row>(scratch_.fitted) : std::span<const Row>());
    scratch_.moments = find_moments(points(), parts, points().standard, fitted_weight(), scratch_.orders.size(),
                                    [&](std::size_t i, std::size_t begin, std::span<double> result) {
                                      responses.find(scratch_.orders[i], begin, result);
                                    });
  }

  void find_log_prior() {
    const std::size_t n_features = points().features.size();
    const std::size_t n_points = settings_.order ? settings_.order->count_points(rows_) : n();
    const std::vector<std::size_t>& sizes = effort().sizes;
    const auto n_sizes = static_cast<double>(
        std::count_if(sizes.begin(), sizes.end(), [=](std::size_t k) { return k <= n_features; }));
    scratch_.log_prior.assign(sizes.back() + 1, kMinusInfinity);
    for (const std::size_t size : sizes)
      if (size <= n_features)
        scratch_.log_prior[size] = settings_.prior.log_split(scored_.node.rules.depth) +
                                   std::log(settings_.oblique.share / n_sizes) - detail::log_choose(n_features, size) -
                                   settings_.oblique.charge * detail::log_hyperplane_splits(n_points, size);
  }

  // Looks for a hyperplane among the rows, or so many of them; what is found has the scale of all.
  template <class Work>
  CandidatePlane among(std::size_t most, double rival, Work work) {
    if (n() <= most) {
      PointSplitter<T> all(points(), scored_, settings_, scratch_.log_prior, 1.0, scratch_.threads[0]);
      return work(all, rival);
    }
    std::vector<Row> chosen;
    spread(most, chosen);
    Points some_points;
    if (!fits_few()) some_points = points().narrowed_to(chosen);
    const Points& sample = fits_few() ? points() : some_points;
    const T outcome = scored_.outcome.narrowed_to(chosen);
    Node<typename T::Number> node;
    node.statistics.resize(outcome.width());
    double of_chosen = 0.0, of_all = 0.0;
    for (std::size_t i = 0; i < most; ++i) {
      outcome.add(node.statistics.data(), i);
      of_chosen += weight(chosen[i]);
    }
    for (std::size_t i = 0; i < n(); ++i) of_all += weight(i);
    const typename T::Node scorer = outcome.node(scored_.node.prior, node.statistics.data());
    const Settings free{settings_.prior, {}};  // limits are for all rows
    const double times = of_all / of_chosen;
    const double no_split = times * outcome.log_likelihood(scored_.node.prior, node.statistics.data());
    PointSplitter<T> some(sample, {outcome, scorer, node}, free, scratch_.log_prior, times, scratch_.threads[0]);
    return work(some, rival - scored_.node.log_likelihood + no_split);
  }

  // The best threshold on all rows of what was found among some. What this takes is not kept for later: in a forest
  // every thread has a tree in work.
  CandidatePlane split_all(const CandidatePlane& plane) {
    Points all;
    all.n = n();
    HyperplaneScratch scratch;
    if (!project_all(plane, scratch.bits)) return {};
    PointSplitter<T> splitter(all, scored_, settings_, scratch_.log_prior, 1.0, scratch);
    return splitter.best_projected(plane.parts, plane.coefficients, plane.order);
  }

  // The bits of every row along a direction, some rows at a time: the columns, and the numbers that the bits stand for,
  // are never there as a whole. False where one is not finite.
  bool project_all(const CandidatePlane& plane, std::vector<std::uint64_t>& bits) const {
    std::array<double, 1024> x, projection;
    bits.resize(n());
    for (std::size_t begin = 0; begin < n(); begin += x.size()) {
      const std::span<const Row> rows = rows_.subspan(begin, std::min(x.size(), n() - begin));
      projection.fill(0.0);
      for (std::size_t j = 0; j < plane.parts.size(); ++j) {
        const std::size_t part = plane.parts[j];
        columns_.columns[points().features[part]].read(rows, x.data());
        for (std::size_t i = 0; i < rows.size(); ++i)
          projection[i] += plane.coefficients[j] * (x[i] == x[i] ? x[i] : points().mean[part]);
      }
      if (!set_bits({projection.data(), rows.size()}, bits.data() + begin)) return false;
    }
    return true;
  }

  // The best fitted direction, turned and shaken if it is within reach of the rival.
  CandidatePlane search(PointSplitter<T>& splitter, double rival) {
    std::vector<CandidatePlane> candidates;
    for (std::size_t response = 0; response < scratch_.orders.size(); ++response) {
      const std::vector<double>& moment = scratch_.moments.with[response];
      std::vector<std::size_t> chosen(points().features.size());
      std::iota(chosen.begin(), chosen.end(), std::size_t{0});
      for (std::size_t i = effort().sizes.size(); i-- > 0;) {
        if (effort().sizes[i] > chosen.size()) continue;
        keep_largest(effort().sizes[i], moment, chosen);
        const std::vector<double> w = solve_for(chosen, scratch_.moments.gram, moment);
        candidates.push_back({chosen, led_by_one(w, standards(chosen)), scratch_.orders[response]});
      }
    }
    CandidatePlane best;
    for (CandidatePlane& plane :
         try_all(splitter, candidates.size(), [&](PointSplitter<T>& worker_splitter, std::size_t i) {
           CandidatePlane split = worker_splitter.best_along(candidates[i].parts, candidates[i].coefficients,
                                                             candidates[i].order);
           if (effort().n_refits > 1 && split.score() > rival - kWithinReach)
             keep_better(worker_splitter.refit(split, 0.5), split);
           return split;
         }))
      keep_better(std::move(plane), best);
    if (!best.exists() || best.score() < rival - kWithinReach) return best;
    refit_and_climb(splitter, 1.0, best);
    if (effort().n_rounds > 0) refit_and_climb(splitter, 0.5, best);
    shake(splitter, best);
    return best;
  }

  // Fits the direction again in some widths, each half of the one before, and climbs from there.
  void refit_and_climb(PointSplitter<T>& splitter, double width, CandidatePlane& best) {
    for (std::size_t i = 0; i < effort().n_refits; ++i, width /= 2) keep_better(splitter.refit(best, width), best);
    keep_better(splitter.climb(best, effort().n_rounds, kMinusInfinity), best);
  }

  // What work(splitter, i) finds for every i, on all threads.
  template <class Work>
  std::vector<CandidatePlane> try_all(const PointSplitter<T>& splitter, std::size_t n_tries, Work work) {
    std::vector<CandidatePlane> planes(n_tries);
    Interrupt nobody(nullptr);
    Interrupt* interrupt = Interrupt::of_this_thread();
    parallel_for(n_tries, scratch_.threads.size(), interrupt == nullptr ? nobody : *interrupt,
                 [&](std::size_t i, std::size_t worker) {
                   PointSplitter<T> here(splitter, scratch_.threads[worker]);
                   planes[i] = work(here, i);
                 });
    return planes;
  }

  static void keep_better(CandidatePlane plane, CandidatePlane& best) {
    if (plane.score() > best.score()) best = std::move(plane);
  }

  // Keeps the features with the largest coefficients, the largest first.
  void keep_largest(std::size_t size, const std::vector<double>& moment, std::vector<std::size_t>& chosen) const {
    const std::vector<double> w = solve_for(chosen, scratch_.moments.gram, moment);
    std::vector<double> size_of(moment.size());
    for (std::size_t j = 0; j < chosen.size(); ++j) size_of[chosen[j]] = std::abs(w[j]);
    std::stable_sort(chosen.begin(), chosen.end(),
                     [&](std::size_t a, std::size_t b) { return size_of[a] > size_of[b]; });
    chosen.resize(size);
  }

  std::vector<Standard> standards(const std::vector<std::size_t>& parts) const {
    std::vector<Standard> result;
    for (const std::size_t part : parts) result.push_back(points().standard[part]);
    return result;
  }

  // Climbs from other directions, near and far: what no change of one coefficient can better may not be the best. Every
  // thread tries one; behind one that is better the rest is tried again from there, so that their number changes
  // nothing.
  void shake(PointSplitter<T>& splitter, CandidatePlane& best) {
    const std::size_t n_parts = best.parts.size(), n_shakes = effort().n_shakes / (n_parts - 1);
    std::minstd_rand random(1);
    std::vector<double> noise(n_shakes * n_parts);
    for (double& x : noise) x = 2.0 * static_cast<double>(random()) / static_cast<double>(random.max()) - 1.0;
    for (std::size_t next = 0; next < n_shakes;) {
      const std::size_t n_tries = std::min(scratch_.threads.size(), n_shakes - next);
      auto planes = try_all(splitter, n_tries, [&](PointSplitter<T>& worker_splitter, std::size_t i) {
        const std::vector<double> coefficients = shaken(best, next + i, &noise[(next + i) * n_parts]);
        return worker_splitter.climb(worker_splitter.best_along(best.parts, coefficients, best.order),
                                     effort().n_rounds, best.score() - kWithinReach);
      });
      const auto better = std::find_if(planes.begin(), planes.end(),
                                       [&](const CandidatePlane& one) { return one.score() > best.score(); });
      next += better == planes.end() ? n_tries : static_cast<std::size_t>(better - planes.begin()) + 1;
      if (better != planes.end()) best = std::move(*better);
    }
  }

  // The coefficients of a hyperplane, moved by noise in one of some widths.
  std::vector<double> shaken(const CandidatePlane& plane, std::size_t turn, const double* noise) const {
    constexpr std::array<double, 4> widths{0.1, 0.01, 1.0, 0.03};
    const std::vector<Standard> standard = standards(plane.parts);
    std::vector<double> direction(plane.coefficients);
    double length = 0.0;
    for (std::size_t j = 0; j < direction.size(); ++j) length = std::hypot(length, direction[j] *= standard[j].scale);
    for (std::size_t j = 0; j < direction.size(); ++j) direction[j] += widths[turn % widths.size()] * length * noise[j];
    return led_by_one(direction, standard);
  }

  Partition partition_of(const CandidatePlane& plane) const {
    if (!plane.exists()) return {};
    const Points& p = points();
    Hyperplane split{{}, plane.threshold};
    for (std::size_t j = 0; j < plane.parts.size(); ++j)
      split.terms.push_back(
          {static_cast<std::int32_t>(p.features[plane.parts[j]]), plane.coefficients[j], p.mean[plane.parts[j]]});
    return {std::move(split), plane.log_prior, plane.log_likelihood};
  }

  const Columns& columns_;
  const ScoredNode<T>& scored_;
  std::span<const Row> rows_;
  const Settings& settings_;
  HyperplaneSearchScratch& scratch_;
};

}  // namespace baytree
