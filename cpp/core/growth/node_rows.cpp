#include "growth/node_rows.hpp"

#include <algorithm>
#include <numeric>
#include <variant>

namespace baytree {

std::size_t NodeRows::divide(std::size_t first, std::span<const std::uint8_t> is_lower, const Threads& threads) {
  const Blocks blocks = threads.blocks(is_lower.size());
  std::vector<std::size_t> lower(blocks.size() + 1);  // the first of a block on the lower side
  blocks.each([&](std::size_t block, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) lower[block + 1] += is_lower[i];
  });
  std::partial_sum(lower.begin(), lower.end(), lower.begin());
  const std::size_t n_lower = lower.back();
  Row* rows = rows_.data() + first;
  Row* divided = divided_.data() + first;
  blocks.each([&](std::size_t block, std::size_t begin, std::size_t end) {
    std::size_t to_lower = lower[block], to_upper = n_lower + begin - to_lower;
    for (std::size_t i = begin; i < end; ++i) {
      divided[is_lower[i] ? to_lower : to_upper] = rows[i];
      to_lower += is_lower[i];
      to_upper += 1 - is_lower[i];
    }
  });
  blocks.each([&](std::size_t, std::size_t begin, std::size_t end) {
    std::copy(divided + begin, divided + end, rows + begin);
  });
  return first + n_lower;
}

NodeRows::Divided NodeRows::divide_by_code(const Column& column, std::size_t first, std::size_t last, Code last_lower,
                                           const Threads& threads) {
  struct Ends {
    Row lower = 0, upper = 0;
    std::int64_t highest_lower = -1, lowest_upper = std::int64_t{1} << 32;
  };
  const std::span<const Row> rows = of(first, last);
  const std::span<std::uint8_t> is_lower(is_lower_.data() + first, rows.size());
  const Blocks blocks = threads.blocks(rows.size());
  std::vector<Ends> ends(blocks.size());
  std::visit(
      [&](const auto& codes) {
        blocks.each([&](std::size_t block, std::size_t begin, std::size_t end) {
          Ends of_block;
          for (std::size_t i = begin; i < end; ++i) {
            const std::int64_t code = codes[rows[i]];
            is_lower[i] = code <= last_lower;
            if (is_lower[i] && code > of_block.highest_lower) of_block.highest_lower = code, of_block.lower = rows[i];
            if (!is_lower[i] && code < of_block.lowest_upper) of_block.lowest_upper = code, of_block.upper = rows[i];
          }
          ends[block] = of_block;
        });
      },
      column.codes);
  const auto lower = std::max_element(ends.begin(), ends.end(),
                                      [](const Ends& a, const Ends& b) { return a.highest_lower < b.highest_lower; });
  const auto upper = std::min_element(ends.begin(), ends.end(),
                                      [](const Ends& a, const Ends& b) { return a.lowest_upper < b.lowest_upper; });
  return {divide(first, is_lower, threads), lower->lower, upper->upper};
}

}  // namespace baytree
