// columns.hpp: codes and bins against naive ranks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "data/encode.hpp"
#include "data/scan.hpp"
#include "data/sort.hpp"
#include "harness.hpp"
#include "interrupts.hpp"
#include "tables.hpp"

namespace baytree::tests {

namespace {

struct NamedValues {
  std::string name;
  Values values;
};

// Columns of n values that are hard to rank in one way or another.
std::vector<NamedValues> hard_columns(std::size_t n, std::mt19937_64& random) {
  constexpr double smallest = std::numeric_limits<double>::denorm_min();
  auto made = [&](auto&& value) {
    Values values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = value(i);
    return values;
  };
  auto one_of = [&](Values choice) { return made([&](std::size_t) { return choice[random() % choice.size()]; }); };
  std::normal_distribution<double> normal;
  auto ulps = [&](std::size_t) { return 1.0 + static_cast<double>(random() % 500) * 0x1p-52; };
  // Neighbouring doubles that agree in the upper 32 bits; the ends of the range leave them no other key.
  auto ulps_in_a_wide_range = [&](std::size_t i) { return i == 0 ? -1e308 : i == 1 ? 1e308 : ulps(i); };
  auto any_finite = [&](std::size_t) {
    double value = std::numeric_limits<double>::infinity();
    while (!std::isfinite(value)) value = std::bit_cast<double>(random());
    return value;
  };
  return {
      {"normal", made([&](std::size_t) { return normal(random); })},
      {"whole numbers", made([&](std::size_t) { return std::round(3.0 * normal(random)); })},
      {"300 values", made([&](std::size_t) { return static_cast<double>(random() % 300) / 7.0; })},
      {"signed zeros", one_of({-0.0, 0.0})},
      {"about zero", one_of({-0.0, 0.0, smallest, -smallest, 2 * smallest, 1e-310, -1e-310, 1e-300, -1.0})},
      {"subnormal", made([&](std::size_t) { return static_cast<double>(random() % 1000) * smallest * 1e9; })},
      {"neighbours", made(ulps)},
      {"neighbours in a wide range", made(ulps_in_a_wide_range)},
      {"negative neighbours in a wide range", made([&](std::size_t i) { return -ulps_in_a_wide_range(i); })},
      {"extremes", one_of({1.7e308, -1.7e308, std::nextafter(1.7e308, 0.0), std::nextafter(-1.7e308, 0.0), 0.0})},
      {"any finite", made(any_finite)},
      {"constant", made([](std::size_t) { return -2.5; })},
      {"constant but for one", made([&](std::size_t i) { return i == n / 2 ? 1.0 : 0.0; })},
      {"ascending", made([](std::size_t i) { return static_cast<double>(i); })},
      {"descending", made([](std::size_t i) { return -std::sqrt(static_cast<double>(i)); })},
      {"one value takes most rows", made([&](std::size_t i) { return i % 10 ? 0.5 : normal(random); })},
  };
}

std::vector<Code> naive_codes(const Values& values) {
  Values distinct = values;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());  // -0.0 == 0.0
  std::vector<Code> codes;
  for (const double value : values)
    codes.push_back(static_cast<Code>(std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin()));
  return codes;
}

std::vector<Code> codes_of(const Column& column) {
  return std::visit(
      [](const auto& codes) {
        std::vector<Code> result(codes.size());
        for (std::size_t row = 0; row < result.size(); ++row) result[row] = codes[row];
        return result;
      },
      column.codes);
}

void check_bins(const Column& column, const std::vector<Code>& codes, std::size_t n_bins) {
  const bool has_bins = n_bins > 0 && column.n_codes > n_bins;
  check_equal(column.codes_are_bins(), !has_bins);
  if (!has_bins) {
    check(column.bins.empty() && column.bin_last.empty() && column.bin_log_splits.empty(), "codes stand for bins");
    check_equal(column.n_bins(), column.n_codes);
    return;
  }
  check(column.n_bins() >= 1 && column.n_bins() <= n_bins, "at most n_bins bins");
  check_equal(column.bin_last.back(), column.n_codes - 1);
  check_equal(column.bin_log_splits.size(), column.n_bins());
  for (std::size_t bin = 0; bin < column.n_bins(); ++bin) {
    const Code first = bin == 0 ? 0 : column.bin_last[bin - 1] + 1;
    check(column.bin_last[bin] >= first, "every bin has a code");
    check_equal(column.last_code(bin), column.bin_last[bin]);
    check_equal(column.log_splits_inside(bin), std::log(static_cast<double>(column.bin_last[bin] - first)));
  }
  check_equal(column.bins.size(), codes.size());
  std::vector<std::size_t> n_rows(column.n_bins());
  for (std::size_t row = 0; row < codes.size(); ++row) {
    // The bin that holds the code: bins are monotone in codes because bin_last ascends.
    const auto bin = std::lower_bound(column.bin_last.begin(), column.bin_last.end(), codes[row]);
    check_equal(column.bin_codes()[row], static_cast<std::uint8_t>(bin - column.bin_last.begin()));
    ++n_rows[column.bins[row]];
  }
  if (column.n_codes < codes.size()) return;
  // Without ties nothing stands in the way of bins of one size.
  check_equal(column.n_bins(), n_bins);
  for (const std::size_t n : n_rows) check(n == codes.size() / n_bins || n == codes.size() / n_bins + 1, "even bins");
}

void check_column(const Column& column, const Values& values, std::size_t n_bins) {
  const std::vector<Code> expected = naive_codes(values);
  check_equal(codes_of(column), expected);
  check_equal(column.n_codes, *std::max_element(expected.begin(), expected.end()) + 1);
  check_equal(column.codes.index(), column.n_codes <= 256 ? 0u : column.n_codes <= 65536 ? 1u : 2u);
  check_bins(column, expected, n_bins);
  for (Row row = 0; row < values.size(); ++row) {
    check_equal(column.low(row), values[row]);
    check_equal(column.high(row), values[row]);
  }
}

void check_encoding(std::size_t n, std::size_t n_bins, Layout layout, std::size_t n_threads, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<NamedValues> named = hard_columns(n, random);
  std::vector<Values> values;
  for (const NamedValues& column : named) values.push_back(column.values);
  const OwnedTable owned(values, layout);
  Interrupt interrupt = never_asked();
  const Columns columns = encode_numbers(owned.table, n_bins, n_threads, interrupt);
  check_equal(columns.n_rows, n);
  check_equal(columns.columns.size(), named.size());
  for (std::size_t i = 0; i < named.size(); ++i) {
    const During during(named[i].name, ", n = ", n, ", n_bins = ", n_bins, ", ", n_threads, " threads");
    check_column(columns.columns[i], named[i].values, n_bins);
  }
}

// Row counts around the changes of method in sort_by_key.
void codes_are_ranks_and_bins_hold_them() {
  for (const std::size_t n : {1, 2, 3, 63, 64, 65, 257, 1000, 4500})
    for (const std::size_t n_bins : {0, 1, 2, 16, 255, 256}) {
      check_encoding(n, n_bins, Layout::row_major, 1, n);
      check_encoding(n, n_bins, Layout::column_major, 3, n + 1);
    }
  check_encoding(700, 16, Layout::rows_backwards, 2, 5);
}

// So many rows are put into buckets, by one thread or by several.
void long_columns_are_sorted_in_buckets() {
  const std::size_t n = (std::size_t{1} << 18) + 5;
  check_encoding(n, 256, Layout::column_major, 1, 8);
  check_encoding(n, 256, Layout::row_major, 9, 9);
}

// More than 2 ** 16 different values, and each width of codes at its limit.
void codes_take_the_width_they_need() {
  for (const std::size_t n_codes : {256, 257, 65536, 65537}) {
    Values values(n_codes + 100);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 48271 % n_codes) / 3.0;
    const OwnedTable owned({values}, Layout::column_major);
    Interrupt interrupt = never_asked();
    const During during(n_codes, " codes");
    check_column(encode_numbers(owned.table, 256, 1, interrupt).columns[0], values, 256);
  }
}

// Columns are read four at a time and the rest one by one.
void any_number_of_columns_is_encoded() {
  std::mt19937_64 random(6);
  for (std::size_t d = 1; d <= 9; ++d)
    for (const Layout layout : {Layout::row_major, Layout::column_major}) {
      const During during(d, " columns");
      std::vector<Values> values(d, Values(50));
      for (Values& column : values)
        for (double& value : column) value = static_cast<double>(random() % 40);
      const OwnedTable owned(values, layout);
      Interrupt interrupt = never_asked();
      const Columns columns = encode_numbers(owned.table, 8, 2, interrupt);
      for (std::size_t i = 0; i < d; ++i) check_column(columns.columns[i], values[i], 8);
    }
}

void sort_rows_orders_part_of_a_column() {
  std::mt19937_64 random(7);
  for (const std::size_t n : {1, 50, 3000, 9000}) {
    Values values(n);
    for (double& value : values) value = static_cast<double>(random() % n);
    const OwnedTable owned({values}, Layout::row_major);
    Interrupt interrupt = never_asked();
    const Column column = encode_numbers(owned.table, 0, 1, interrupt).columns[0];
    std::vector<Row> rows;
    for (Row row = 0; row < n; ++row)
      if (row == 0 || random() % 3) rows.push_back(row);
    const std::vector<Code> codes = codes_of(column);
    std::vector<Keyed> order, spare, expected;
    for (std::uint32_t i = 0; i < rows.size(); ++i) expected.push_back(keyed(codes[rows[i]], i));
    std::stable_sort(expected.begin(), expected.end(), [](Keyed a, Keyed b) { return key_of(a) < key_of(b); });
    sort_rows(column, rows, order, spare);
    check_equal(order, expected);
  }
}

Columns encode_into_bins(const Table& table, std::size_t max_bins, std::size_t n_threads) {
  Interrupt interrupt = never_asked();
  const std::vector<std::uint8_t> is_categorical(table.n_columns);
  return encode(table, Encoding{is_categorical, 0, false, max_bins}, n_threads, interrupt);
}

// The values that end a bin, by their ranks; all values where they are few.
Values naive_ends(Values values, std::size_t max_bins) {
  std::sort(values.begin(), values.end());
  Values distinct = values, ends;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() <= max_bins) return distinct;
  for (std::size_t k = 1; k <= max_bins; ++k) ends.push_back(values[(k * values.size() + max_bins - 1) / max_bins - 1]);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

void quantile_bins_end_at_ranks() {
  std::mt19937_64 random(11);
  for (const std::size_t n : {1, 300, 5000, 20000})
    for (const std::size_t max_bins : {2, 60, 255, 400}) {
      const std::vector<NamedValues> named = hard_columns(n, random);
      std::vector<Values> columns;
      for (const NamedValues& column : named) columns.push_back(column.values);
      const OwnedTable owned(columns, random() % 2 ? Layout::row_major : Layout::column_major);
      const Columns encoded = encode_into_bins(owned.table, max_bins, 1 + random() % 3);
      for (std::size_t f = 0; f < columns.size(); ++f) {
        const Values ends = naive_ends(columns[f], max_bins);
        Values lows(ends.size(), std::numeric_limits<double>::infinity());
        std::vector<Code> codes;
        for (const double value : columns[f]) {
          const auto bin = static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), value) - ends.begin());
          codes.push_back(static_cast<Code>(bin));
          lows[bin] = std::min(lows[bin], value);
        }
        check_equal(codes_of(encoded.columns[f]), codes);
        check(encoded.columns[f].highs == ends, "highest values of " + named[f].name);
        check(encoded.columns[f].lows == lows, "lowest values of " + named[f].name);
      }
    }
}

void a_scan_reads_every_value() {
  std::mt19937_64 random(7);
  for (const std::size_t n : {std::size_t{1}, std::size_t{13}, std::size_t{40000}})
    for (const Layout layout : {Layout::row_major, Layout::column_major}) {
      std::vector<Values> columns;
      for (NamedValues& column : hard_columns(n, random)) columns.push_back(std::move(column.values));
      columns.emplace_back(n, std::numeric_limits<double>::quiet_NaN());
      columns.emplace_back(n, 3.0);
      columns.back()[random() % n] = -std::numeric_limits<double>::infinity();
      const OwnedTable owned(columns, layout);
      Interrupt interrupt({});
      const std::vector<ColumnScan> result = scan(owned.table, 1 + random() % 4, interrupt);
      for (std::size_t f = 0; f < columns.size(); ++f) {
        std::uint64_t sum = 0;
        double lowest = std::numeric_limits<double>::quiet_NaN(), highest = lowest;
        bool is_integer = true;
        for (const double value : columns[f]) {
          sum += std::bit_cast<std::uint64_t>(value);
          lowest = std::fmin(lowest, value);
          highest = std::fmax(highest, value);
          is_integer &= std::isnan(value) || std::trunc(value) == value;
        }
        check(result[f].bit_sum == sum, "the sum of bits");
        check(result[f].lowest == lowest || std::isnan(lowest + result[f].lowest), "the lowest number");
        check(result[f].highest == highest || std::isnan(highest + result[f].highest), "the highest number");
        check(std::isnan(result[f].lowest) == std::isnan(lowest), "a column without numbers has no range");
        check(result[f].is_integer == is_integer, "whether all numbers are integers");
      }
    }
}

void encoding_can_be_interrupted() {
  const OwnedTable owned({Values(100, 1.0), Values(100, 2.0)}, Layout::row_major);
  Interrupt interrupt([] { return true; });
  wait_for_the_next_question();
  check_throws<Interrupted>([&] { encode_numbers(owned.table, 0, 2, interrupt); });
}

const Suite suite{{
    {"codes are ranks and bins hold them", codes_are_ranks_and_bins_hold_them},
    {"long columns are sorted in buckets", long_columns_are_sorted_in_buckets},
    {"codes take the width they need", codes_take_the_width_they_need},
    {"any number of columns is encoded", any_number_of_columns_is_encoded},
    {"sort_rows orders part of a column", sort_rows_orders_part_of_a_column},
    {"quantile bins end at ranks", quantile_bins_end_at_ranks},
    {"a scan reads every value", a_scan_reads_every_value},
    {"encoding can be interrupted", encoding_can_be_interrupted},
}};

}  // namespace

}  // namespace baytree::tests
