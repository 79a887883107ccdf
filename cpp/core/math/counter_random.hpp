// Random numbers by name: what is drawn for a tree and a row depends on nothing but the seed and their numbers, so that
// trees can be grown in any order, on any thread, and one of them alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "types.hpp"

namespace baytree {

// The numbers of one stream: of the weights, or of the features, of one tree.
class CounterRandom {
 public:
  CounterRandom(std::uint64_t seed, std::uint64_t stream, std::uint64_t tree)
      : key_(mark_of(mark_of(mark_of(seed) + stream) + tree)) {}

  // Uniform in (0, 1): the draw-th number of an item.
  double uniform(std::uint64_t item, std::uint64_t draw) const {
    const std::uint64_t bits = mark_of(mark_of(key_ + item) + draw);
    return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  }

  // Of Gamma(shape, 1), from the item's numbers 0, 1, ...: exponential for shape 1, otherwise by the method of
  // Marsaglia and Tsang (2000).
  double gamma(double shape, std::uint64_t item) const {
    if (shape == 1.0) return -std::log(uniform(item, 0));
    std::uint64_t draw = 0;
    const double boost = shape < 1.0 ? std::pow(uniform(item, draw++), 1.0 / shape) : 1.0;
    const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    for (;; draw += 3) {
      const double x = std::sqrt(-2.0 * std::log(uniform(item, draw))) *
                       std::cos(2.0 * std::numbers::pi * uniform(item, draw + 1));
      const double root = 1.0 + c * x, v = root * root * root;
      if (root > 0.0 && std::log(uniform(item, draw + 2)) < 0.5 * x * x + d - d * v + d * std::log(v))
        return d * v * boost;
    }
  }

  // `size` of n items, ascending: those that come first in a shuffle.
  std::vector<std::uint8_t> choose(std::size_t n, std::size_t size) const {
    std::vector<std::size_t> items(n);
    for (std::size_t i = 0; i < n; ++i) items[i] = i;
    std::vector<std::uint8_t> chosen(n, 0);
    for (std::size_t i = 0; i < size; ++i) {
      const auto other = i + static_cast<std::size_t>(uniform(i, 0) * static_cast<double>(n - i));
      std::swap(items[i], items[other]);
      chosen[items[i]] = 1;
    }
    return chosen;
  }

 private:
  std::uint64_t key_;
};

}  // namespace baytree
