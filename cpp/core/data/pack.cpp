// From a table to quantile bins (bin_search.hpp). A column of no more than max_bins distinct values has a bin for each,
// and so has one of categories. The codes of a row are kept side by side: whatever wants to count the rows of a node
// reads one or two cache lines for each of them.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "data/bin_search.hpp"
#include "data/bins.hpp"
#include "data/distinct.hpp"
#include "data/encode.hpp"
#include "data/read.hpp"
#include "data/weighted_bins.hpp"
#include "function_ref.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

namespace {

constexpr std::size_t kMostColumnsSearched = 32;  // at once; each has as many counts as slices
using Samples = std::vector<std::vector<double>>;  // of each column, in ascending order, none missing

std::vector<double> take_sample(const AnyTable& table, std::size_t column) {
  constexpr std::size_t most = 2048;
  std::vector<double> sample;
  const std::size_t n_rows = table.n_rows(), n = std::min(n_rows, most);
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < n; ++i) {
          const double value = values.at(static_cast<Row>(i * n_rows / n)) + 0.0;  // -0.0 is 0.0
          if (value == value) sample.push_back(value);
        }
      },
      table.column(column));
  std::sort(sample.begin(), sample.end());
  return sample;
}

std::size_t count_distinct(const std::vector<double>& sorted) {
  std::size_t count = !sorted.empty();
  for (std::size_t i = 1; i < sorted.size(); ++i) count += sorted[i] != sorted[i - 1];
  return count;
}

// Reads columns tile by tile; use(i, values, first row, worker) gets those of columns[i].
void read_columns(
    const AnyTable& table, std::span<const std::size_t> columns, std::size_t n_threads, Interrupt& interrupt,
    FunctionRef<void(std::size_t i, std::span<const double> values, std::size_t begin, std::size_t worker)> use) {
  if (columns.empty()) return;
  std::vector<std::vector<double>> values(std::max<std::size_t>(n_threads, 1));
  each_tile(table.n_rows(), n_threads, interrupt, [&](std::size_t begin, std::size_t end, std::size_t worker) {
    values[worker].resize(end - begin);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      read_values(table, columns[i], begin, values[worker]);
      use(i, std::span<const double>(values[worker]), begin, worker);
    }
  });
}

// Finds the bins of columns of few values, or of categories. Returns the other columns.
std::vector<std::size_t> find_few_values(const AnyTable& table, const Encoding& encoding, const Samples& samples,
                                         std::size_t n_threads, Interrupt& interrupt, std::vector<ColumnBins>& bins) {
  std::vector<std::size_t> few, many;
  std::vector<DistinctValues> none;
  for (std::size_t column = 0; column < table.n_columns(); ++column) {
    const std::size_t most = encoding.is_categorical[column] ? table.n_rows() : encoding.max_bins;
    if (count_distinct(samples[column]) > most) {
      many.push_back(column);
    } else {
      few.push_back(column);
      none.emplace_back(most);
    }
  }
  std::vector<std::vector<DistinctValues>> by_worker(std::max<std::size_t>(n_threads, 1), none);
  read_columns(table, few, n_threads, interrupt,
               [&](std::size_t i, std::span<const double> values, std::size_t, std::size_t worker) {
                 by_worker[worker][i].add(values);
               });
  for (std::size_t i = 0; i < few.size(); ++i) {
    for (std::size_t worker = 1; worker < by_worker.size(); ++worker) by_worker[0][i].add(by_worker[worker][i]);
    const DistinctValues& distinct = by_worker[0][i];
    if (distinct.too_many()) many.push_back(few[i]);
    else bins[few[i]] = {distinct.sorted(), distinct.sorted(), distinct.has_missing(), true};
  }
  return many;
}

template <class Int>
using Search = BinSearch<std::conditional_t<sizeof(Int) == 1, std::uint16_t, std::uint32_t>>;

// Counts the values of columns by slices.
template <class AnySearch>
void count_values(const AnyTable& table, std::span<const std::size_t> columns, std::vector<AnySearch>& searches,
                  std::size_t n_threads, Interrupt& interrupt) {
  std::vector<std::vector<typename AnySearch::Counts>> counts(std::max<std::size_t>(n_threads, 1));
  for (auto& of_worker : counts) of_worker.resize(columns.size());
  read_columns(table, columns, n_threads, interrupt,
               [&](std::size_t i, std::span<const double> values, std::size_t, std::size_t worker) {
                 searches[i].count(values, counts[worker][i]);
               });
  parallel_for(columns.size(), n_threads, interrupt, [&](std::size_t i, std::size_t) {
    typename AnySearch::Counts total;
    searches[i].count({}, total);
    for (const auto& of_worker : counts)
      std::transform(of_worker[i].begin(), of_worker[i].end(), total.begin(), total.begin(), std::plus<>());
    searches[i].set_counts(total);
  });
}

// Finds the bins of columns of many values and writes their codes. Returns those whose codes are still to be found.
template <class Int>
std::vector<std::size_t> search_bins(const AnyTable& table, std::span<const std::size_t> columns,
                                     std::vector<Search<Int>> searches, std::size_t n_threads, Interrupt& interrupt,
                                     std::vector<ColumnBins>& bins, Int* codes) {
  const std::size_t d = table.n_columns();
  count_values(table, columns, searches, n_threads, interrupt);
  struct alignas(kApart) Scratch {
    std::vector<typename Search<Int>::Kept> kept;  // by column
    typename Search<Int>::Entries to_keep;
  };
  std::vector<Scratch> scratch(std::max<std::size_t>(n_threads, 1));
  for (Scratch& of_worker : scratch) of_worker.kept.resize(columns.size());
  read_columns(table, columns, n_threads, interrupt,
               [&](std::size_t i, std::span<const double> values, std::size_t first, std::size_t worker) {
                 auto& [kept, to_keep] = scratch[worker];
                 searches[i].keep(values, first, to_keep, kept[i],
                                  [to = codes + first * d + columns[i], d](std::size_t k, std::uint32_t bin) {
                                    to[k * d] = static_cast<Int>(bin);
                                  });
               });
  std::vector<std::uint8_t> is_done(columns.size());
  parallel_for(columns.size(), n_threads, interrupt, [&](std::size_t i, std::size_t) {
    std::vector<const typename Search<Int>::Kept*> parts;
    for (const Scratch& of_worker : scratch)
      if (!of_worker.kept[i].lowest.empty()) parts.push_back(&of_worker.kept[i]);
    is_done[i] = searches[i].finish(parts, bins[columns[i]]);
  });
  parallel_for(scratch.size(), n_threads, interrupt, [&](std::size_t part, std::size_t) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (is_done[i])
        searches[i].tell_kept(scratch[part].kept[i], bins[columns[i]],
                              [to = codes + columns[i], d](Row row, std::uint32_t bin) {
                                to[std::size_t{row} * d] = static_cast<Int>(bin);
                              });
  });
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!is_done[i]) left.push_back(columns[i]);
  return left;
}

// Writes the codes of columns whose bins are known.
template <class Int>
void write_codes(const AnyTable& table, std::span<const std::size_t> columns, const std::vector<ColumnBins>& bins,
                 std::size_t n_threads, Interrupt& interrupt, Int* codes) {
  std::vector<BinFinder> finders;
  for (const std::size_t column : columns) finders.emplace_back(bins[column].ends, bins[column].one_value_each);
  read_columns(table, columns, n_threads, interrupt,
               [&](std::size_t i, std::span<const double> values, std::size_t first, std::size_t) {
                 finders[i].find(values, [to = codes + first * table.n_columns() + columns[i], d = table.n_columns()](
                                             std::size_t k, std::uint32_t bin) { to[k * d] = static_cast<Int>(bin); });
               });
}

template <class Int>
Columns pack(const AnyTable& table, std::vector<ColumnBins> bins, std::span<const std::size_t> many, Samples samples,
             const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  // Nothing is written before the threads write codes.
  const std::shared_ptr<Int[]> codes = std::make_unique_for_overwrite<Int[]>(table.n_rows() * table.n_columns());
  std::vector<std::uint8_t> is_searched(table.n_columns());
  for (const std::size_t column : many) is_searched[column] = 1;
  std::vector<std::size_t> left;
  for (std::size_t column = 0; column < table.n_columns(); ++column)
    if (!is_searched[column]) left.push_back(column);
  // The values that are kept take no more memory than a column or so.
  const std::size_t at_once = std::clamp<std::size_t>(Slices::kMost / encoding.max_bins, 1, kMostColumnsSearched);
  for (std::size_t begin = 0; begin < many.size(); begin += at_once) {
    const auto columns = many.subspan(begin, std::min(at_once, many.size() - begin));
    std::vector<Search<Int>> searches;
    for (const std::size_t column : columns)
      searches.emplace_back(std::move(samples[column]), encoding.max_bins, table.n_rows());
    for (const std::size_t column :
         search_bins(table, columns, std::move(searches), n_threads, interrupt, bins, codes.get()))
      left.push_back(column);
  }
  write_codes(table, left, bins, n_threads, interrupt, codes.get());

  Columns result{table.n_rows(), false, std::vector<Column>(table.n_columns())};
  for (std::size_t f = 0; f < table.n_columns(); ++f) {
    Column& column = result.columns[f];
    column.is_categorical = encoding.is_categorical[f] != 0;
    column.has_missing = bins[f].has_missing;
    column.n_codes = static_cast<Code>(bins[f].ends.size()) + column.has_missing;
    column.codes = PackedCodes<Int>{codes, codes.get() + f, table.n_rows(), table.n_columns()};
    column.source = table.column(f);
    column.set_bins(std::move(bins[f].lows), std::move(bins[f].ends), encoding.keep_values);
  }
  return result;
}

// Finds the bins of columns of many values in rows with weights.
void find_weighted_bins(const AnyTable& table, std::span<const std::size_t> columns, const Encoding& encoding,
                        std::size_t n_threads, Interrupt& interrupt, std::vector<ColumnBins>& bins) {
  std::vector<std::uint8_t> is_wanted(table.n_columns());
  for (const std::size_t column : columns) is_wanted[column] = 1;
  std::vector<RankScratch> scratch(std::max<std::size_t>(n_threads, 1));
  each_column(table, kMostColumnsAtOnce, n_threads, interrupt,
              [&](std::size_t column, std::span<const std::uint64_t> bits, std::size_t worker) {
                if (is_wanted[column])
                  bins[column] = weighted_bins(bits, encoding.weight, encoding.max_bins, scratch[worker]);
              });
}

}  // namespace

Columns encode_bins(const AnyTable& table, const Encoding& encoding, std::size_t n_threads, Interrupt& interrupt) {
  Samples samples(table.n_columns());
  parallel_for(table.n_columns(), n_threads, interrupt,
               [&](std::size_t column, std::size_t) { samples[column] = take_sample(table, column); });
  std::vector<ColumnBins> bins(table.n_columns());
  std::vector<std::size_t> many = find_few_values(table, encoding, samples, n_threads, interrupt, bins);
  if (!many.empty() && !encoding.weight.empty()) {
    find_weighted_bins(table, many, encoding, n_threads, interrupt, bins);
    many.clear();
  }
  std::size_t most_codes = many.empty() ? 0 : encoding.max_bins + 1;  // with that of missing values
  for (const ColumnBins& of_column : bins)
    most_codes = std::max(most_codes, of_column.ends.size() + of_column.has_missing);
  auto packed = [&]<class Int>(Int) {
    return pack<Int>(table, std::move(bins), many, std::move(samples), encoding, n_threads, interrupt);
  };
  if (most_codes <= std::size_t{1} << 8) return packed(std::uint8_t{});
  if (most_codes <= std::size_t{1} << 16) return packed(std::uint16_t{});
  return packed(std::uint32_t{});
}

}  // namespace baytree
