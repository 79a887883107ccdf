// Which side of a hyperplane many rows lie on: from values rounded to 16 bits, of which processors multiply many at
// once, and exactly where that comes too close to tell.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "math/vector_math.hpp"
#include "partitions/split_rules.hpp"
#include "types.hpp"

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define BAYTREE_AVX2 [[gnu::target("avx2,popcnt")]]
#endif

namespace baytree {

// Finite values of rows, each feature divided by its largest. A row begins where a line of the cache does.
class RoundedRows {
 public:
  static constexpr double kMost = 32767.0;  // of a value

  void resize(std::size_t n_rows, std::size_t n_features) {
    n_rows_ = n_rows;
    n_lines_ = (n_features + Line{}.size() - 1) / Line{}.size();
    lines_.assign(n_rows * n_lines_, {});
    unit_.assign(n_features, 0.0);
  }

  // The values of a feature, so many doubles apart.
  void fill(std::size_t feature, const double* from, std::size_t from_step) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n_rows_; ++i) largest = std::max(largest, std::abs(from[i * from_step]));
    if (largest == 0.0) return;
    const double factor = kMost / largest;
    unit_[feature] = std::isfinite(factor) ? largest / kMost : std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(factor)) return;
    for (std::size_t i = 0; i < n_rows_; ++i)
      lines_[i * n_lines_ + feature / Line{}.size()][feature % Line{}.size()] = static_cast<std::int16_t>(
          std::lrint(from[i * from_step] * factor));
  }

  const std::int16_t* data() const { return lines_.data()->data(); }
  std::size_t step() const { return n_lines_ * Line{}.size(); }  // from a row to the next
  double unit(std::size_t feature) const { return unit_[feature]; }

 private:
  struct alignas(64) Line : std::array<std::int16_t, 32> {};

  std::size_t n_rows_ = 0, n_lines_ = 0;  // of a row
  std::vector<Line> lines_;
  std::vector<double> unit_;  // by feature: what 1 stands for; NaN: there are no rounded values
};

// A hyperplane for them. A value is unit (r + d), where r is whole and |d| at most 1/2; the weight of a feature is
// w = v + e, where v is whole. The sum of w (r + d) is that of v r but for those of e r and w d.
class RoundedPlane {
 public:
  static constexpr std::size_t kLanes = 16;  // values that are multiplied at once
  struct alignas(32) Weights : std::array<std::int16_t, kLanes> {};

  // Returns whether a plane can be rounded: it must not have very many terms, or coefficients beyond all bounds.
  bool round(const SplitRules::Terms& terms, double threshold, const RoundedRows& rows) {
    const std::size_t n_terms = terms.feature.size();
    double total = 0.0;
    for (std::size_t k = 0; k < n_terms; ++k) total += std::abs(terms.coefficient[k] * rows.unit(terms.feature[k]));
    const double factor = kMostWeight / total;
    if (!(total > 0.0 && std::isfinite(factor) && factor > 0.0) || n_terms > kMostTerms) return false;
    starts_.resize(n_terms), weights_.assign(n_terms, {});
    n_chunks_ = 0;
    double left = 0.0;
    for (std::size_t k = 0; k < n_terms; ++k) {
      const std::size_t feature = terms.feature[k];
      const double weight = terms.coefficient[k] * rows.unit(feature) * factor;
      const long whole = std::lrint(weight);
      weights_[chunk_of(feature)][feature % kLanes] += static_cast<std::int16_t>(whole);
      left += std::abs(weight - static_cast<double>(whole));
    }
    const double unsure = RoundedRows::kMost * left + kMostWeight / 2 + 2;  // 2: whatever is rounded on the way
    surely_lower_ = clamped(std::floor(threshold * factor - unsure));
    surely_upper_ = clamped(std::ceil(threshold * factor + unsure));
    return true;
  }

  std::size_t n_chunks() const { return n_chunks_; }
  const std::uint32_t* starts() const { return starts_.data(); }
  const Weights* weights() const { return weights_.data(); }
  std::int32_t surely_lower() const { return surely_lower_; }  // sums up to this are below the threshold
  std::int32_t surely_upper() const { return surely_upper_; }  // sums above this are beyond it

 private:
  // Of all weights together. With the error of rounding so many, it fits into 16 bits, and sums fit into 32.
  static constexpr double kMostWeight = 32000.0;
  static constexpr std::size_t kMostTerms = 1024;

  std::size_t chunk_of(std::size_t feature) {
    const auto start = static_cast<std::uint32_t>(feature / kLanes * kLanes);
    const std::size_t chunk = static_cast<std::size_t>(std::find(starts_.begin(), starts_.begin() + n_chunks_, start) -
                                                       starts_.begin());
    if (chunk == n_chunks_) starts_[n_chunks_++] = start;
    return chunk;
  }

  static std::int32_t clamped(double x) {
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(std::clamp(x, -most, most));
  }

  std::size_t n_chunks_ = 0;
  std::vector<std::uint32_t> starts_;  // by chunk: its first feature
  std::vector<Weights> weights_;  // by chunk
  std::int32_t surely_lower_ = 0, surely_upper_ = 0;
};

#ifdef BAYTREE_AVX2

namespace detail {

inline bool has_avx2() {
  static const bool can = __builtin_cpu_supports("avx2") > 0 && __builtin_cpu_supports("popcnt") > 0;
  return can;
}

// By the bits of those of four numbers that are wanted: the bytes that bring them to the front.
inline constexpr auto kToTheFront = [] {
  std::array<std::array<std::uint8_t, 16>, 16> result{};
  for (std::size_t wanted = 0; wanted < 16; ++wanted)
    for (std::size_t number = 0, at = 0; number < 4; ++number)
      for (std::size_t byte = 0; byte < 4 && (wanted >> number & 1) != 0; ++byte)
        result[wanted][at++] = static_cast<std::uint8_t>(4 * number + byte);
  return result;
}();

// Writes those of four numbers that are wanted, and anything behind them; returns how many they are.
BAYTREE_AVX2 BAYTREE_INLINE inline std::size_t write_wanted(__m128i four, unsigned wanted, std::uint32_t* to) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kToTheFront[wanted].data()));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(four, bytes));
  return static_cast<std::size_t>(std::popcount(wanted));
}

// The sums of eight rows.
BAYTREE_AVX2 BAYTREE_INLINE inline __m256i rounded_sums(const std::int16_t* values, std::size_t step,
                                                        const std::uint32_t* rows, const std::uint32_t* starts,
                                                        const RoundedPlane::Weights* weights, std::size_t n_chunks) {
  const std::int16_t* x[8];
  __m256i sum[8];
  for (std::size_t k = 0; k < 8; ++k) x[k] = values + rows[k] * step, sum[k] = _mm256_setzero_si256();
  for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
    const __m256i weight = _mm256_load_si256(reinterpret_cast<const __m256i*>(weights + chunk));
    for (std::size_t k = 0; k < 8; ++k) {
      const __m256i value = _mm256_load_si256(reinterpret_cast<const __m256i*>(x[k] + starts[chunk]));
      sum[k] = _mm256_add_epi32(sum[k], _mm256_madd_epi16(weight, value));
    }
  }
  const __m256i low = _mm256_hadd_epi32(_mm256_hadd_epi32(sum[0], sum[1]), _mm256_hadd_epi32(sum[2], sum[3]));
  const __m256i high = _mm256_hadd_epi32(_mm256_hadd_epi32(sum[4], sum[5]), _mm256_hadd_epi32(sum[6], sum[7]));
  return _mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x20), _mm256_permute2x128_si256(low, high, 0x31));
}

// The bits of those of eight sums that are above a limit.
BAYTREE_AVX2 BAYTREE_INLINE inline unsigned above(__m256i sums, std::int32_t limit) {
  const __m256i is_above = _mm256_cmpgt_epi32(sums, _mm256_set1_epi32(limit));
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_above)));
}

struct DividedRows {
  std::size_t n_lower, n_unsure;  // rows below a plane, and rows that were too close to tell
};

// Puts the rows below a plane first and the others into `upper`, which has room for four more; their number is a
// multiple of eight. lies_beyond(row) tells exactly.
template <class LiesBeyond>
BAYTREE_AVX2 DividedRows divide_rounded(const RoundedRows& table, const RoundedPlane& plane, std::uint32_t* rows,
                                        std::size_t n, std::uint32_t* upper, LiesBeyond lies_beyond) {
  const std::int16_t* values = table.data();
  const std::size_t step = table.step(), n_chunks = plane.n_chunks();
  const std::uint32_t* starts = plane.starts();
  const RoundedPlane::Weights* weights = plane.weights();
  const std::int32_t surely_lower = plane.surely_lower(), surely_upper = plane.surely_upper();
  std::size_t n_lower = 0, n_upper = 0, n_unsure = 0;
  for (std::size_t i = 0; i < n; i += 8) {
    const __m256i sums = rounded_sums(values, step, rows + i, starts, weights, n_chunks);
    unsigned beyond = above(sums, surely_upper);
    unsigned unsure = above(sums, surely_lower) & ~beyond;
    while (unsure != 0) [[unlikely]] {
      const int k = std::countr_zero(unsure);
      beyond |= static_cast<unsigned>(lies_beyond(rows[i + static_cast<std::size_t>(k)])) << k;
      unsure &= unsure - 1, ++n_unsure;
    }
    const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows + i));
    const __m128i last = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows + i + 4));
    n_lower += write_wanted(first, ~beyond & 15, rows + n_lower);
    n_lower += write_wanted(last, ~beyond >> 4 & 15, rows + n_lower);
    n_upper += write_wanted(first, beyond & 15, upper + n_upper);
    n_upper += write_wanted(last, beyond >> 4, upper + n_upper);
  }
  return {n_lower, n_unsure};
}

}  // namespace detail

#endif

// Rows that are divided by one hyperplane after the other, where that is quicker with rounded values.
class RoundedBlock {
 public:
  static constexpr std::size_t kRoom = 4;  // that `upper` must have beyond the rows

  // Takes the values of some features, one row after the other, so many doubles apart; finite ones, or there are none.
  void fill([[maybe_unused]] const std::vector<std::size_t>& features, [[maybe_unused]] std::size_t n_features,
            [[maybe_unused]] const double* values, [[maybe_unused]] std::size_t n_rows,
            [[maybe_unused]] std::size_t step, [[maybe_unused]] bool finite) {
    pays_ = false;
#ifdef BAYTREE_AVX2
    if (!finite || !detail::has_avx2()) return;
    pays_ = true, n_divided_ = n_unsure_ = 0;
    rows_.resize(n_rows, n_features);
    for (const std::size_t feature : features) rows_.fill(feature, values + feature, step);
#endif
  }

  bool pays(std::size_t n_rows) const { return pays_ && n_rows >= kFewRows; }

  struct Divided {
    std::size_t n, n_lower;  // rows that were divided, and those of them below the plane
  };

  // Divides most of some rows, or none: puts those below first and the others into `upper`.
  template <class LiesBeyond>
  Divided divide([[maybe_unused]] const SplitRules::Terms& terms, [[maybe_unused]] double threshold,
                 [[maybe_unused]] std::span<std::uint32_t> rows, [[maybe_unused]] std::uint32_t* upper,
                 [[maybe_unused]] LiesBeyond lies_beyond) {
#ifdef BAYTREE_AVX2
    if (!plane_.round(terms, threshold, rows_)) return {0, 0};
    const std::size_t n = rows.size() / 8 * 8;
    const auto [n_lower, n_unsure] = detail::divide_rounded(rows_, plane_, rows.data(), n, upper, lies_beyond);
    n_divided_ += n, n_unsure_ += n_unsure;
    // A value far from all others leaves few different ones to these, and too many rows are close to a plane.
    pays_ = n_unsure_ <= kFewRows + n_divided_ / 16;
    return {n, n_lower};
#else
    return {0, 0};
#endif
  }

 private:
  static constexpr std::size_t kFewRows = 64;  // to round a plane for them takes longer than it saves

  bool pays_ = false;
  std::size_t n_divided_ = 0, n_unsure_ = 0;  // rows so far
  RoundedRows rows_;
  RoundedPlane plane_;
};

}  // namespace baytree
