#include "data/row_order.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>
#include <variant>

#include "parallel.hpp"

namespace baytree {

namespace {

struct MarkedRow {
  std::uint64_t of_point = 0, of_all = 0;  // of the columns that hyperplanes can use; of all of them and the outcome
  double weight = 0.0;
  Row row = 0;

  bool equals(const MarkedRow& other) const { return of_point == other.of_point && of_all == other.of_all; }
  bool operator<(const MarkedRow& other) const {
    return std::tie(of_point, of_all, weight) < std::tie(other.of_point, other.of_all, other.weight);
  }
};

std::vector<MarkedRow> mark_rows(const UnorderedRows& table, const std::vector<double>& weights) {
  std::vector<MarkedRow> marked(table.columns.n_rows);
  for (std::size_t row = 0; row < marked.size(); ++row)
    marked[row] = {0, table.outcome_marks[row], weights.empty() ? 1.0 : weights[row], static_cast<Row>(row)};
  for (std::size_t f = 0; f < table.columns.columns.size(); ++f) {
    stop_if_asked();
    const Column& column = table.columns.columns[f];
    if (column.n_codes < 2) continue;
    std::visit(
        [&, is_part = table.in_points[f] != 0](const auto& codes) {
          for (std::size_t row = 0; row < marked.size(); ++row) {
            const std::uint64_t mark = mark_of(std::uint64_t{f} << 32 | codes[row]);
            marked[row].of_point += is_part ? mark : 0;
            marked[row].of_all += std::rotl(mark, 29);
          }
        },
        column.codes);
  }
  return marked;
}

}  // namespace

std::size_t RowOrder::count_points(std::span<const Row> some) const {
  std::size_t result = 0;
  for (std::size_t i = 0; i < some.size(); ++i) result += i == 0 || (*point)[some[i - 1]] != (*point)[some[i]];
  return result;
}

RowOrder order_rows(const UnorderedRows& table, std::vector<double>& weights, std::vector<Row>* stands_for) {
  std::vector<MarkedRow> marked = mark_rows(table, weights);
  std::sort(marked.begin(), marked.end());
  stop_if_asked();
  const bool join = table.join;
  std::vector<Row> rows;
  std::vector<std::uint32_t> points(marked.size()), times(join ? marked.size() : 0, 1);
  weights.assign(marked.size(), 1.0);
  std::uint32_t point = 0;
  for (std::size_t first = 0, next = 0; first < marked.size(); first = next) {
    if (first > 0 && marked[first].of_point != marked[first - 1].of_point) ++point;
    double weight = 0.0;
    while (next == first || (join && next < marked.size() && marked[first].equals(marked[next]))) {
      const std::size_t begin = next;  // of those that have the same weight too
      do ++next;
      while (join && next < marked.size() && marked[begin].equals(marked[next]) &&
             marked[begin].weight == marked[next].weight);
      weight += static_cast<double>(next - begin) * marked[begin].weight;
    }
    const Row row = marked[first].row;
    rows.push_back(row);
    points[row] = point;
    if (join) times[row] = static_cast<std::uint32_t>(next - first);
    weights[row] = weight;
    for (std::size_t i = first; stands_for && i < next; ++i) (*stands_for)[marked[i].row] = row;
  }
  auto shared = [](std::vector<std::uint32_t> numbers) {
    return std::make_shared<const std::vector<std::uint32_t>>(std::move(numbers));
  };
  return {std::move(rows), join ? shared(std::move(times)) : nullptr, shared(std::move(points))};
}

}  // namespace baytree
