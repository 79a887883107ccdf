#include "data/rank.hpp"

#include <algorithm>
#include <utility>

namespace baytree {

namespace {

// Ranks items that share a key, in the order of their rows, from `code` on; returns the next code.
Code rank_run(std::span<const std::uint64_t> bits, std::span<Keyed> run, Code code) {
  auto value = [&](Keyed item) { return bits[payload_of(item)]; };
  auto before = [&](Keyed a, Keyed b) { return value(a) != value(b) ? value(a) < value(b) : a < b; };
  if (!std::is_sorted(run.begin(), run.end(), before)) std::sort(run.begin(), run.end(), before);
  std::uint64_t previous = value(run[0]);
  for (Keyed& item : run) {
    code += value(item) != previous;
    previous = value(item);
    item = keyed(code, payload_of(item));
  }
  return code + 1;
}

// Gives items that are sorted by key their codes, from `code` on; returns the next code.
Code rank_sorted(std::span<const std::uint64_t> bits, bool keys_tell_all, std::span<Keyed> items, Code code) {
  for (std::size_t begin = 0, end; begin < items.size(); begin = end) {
    const std::uint32_t key = key_of(items[begin]);
    end = begin + 1;
    while (end < items.size() && key_of(items[end]) == key) ++end;
    if (end - begin > 1 && !keys_tell_all) {
      code = rank_run(bits, items.subspan(begin, end - begin), code);
    } else {
      for (std::size_t i = begin; i < end; ++i) items[i] = keyed(code, payload_of(items[i]));
      ++code;
    }
  }
  return code;
}

// Puts (key, row) of every row into scratch.spare, bucket by bucket; returns where the buckets begin, and the end.
std::vector<std::size_t> put_in_buckets(std::span<const std::uint64_t> bits, const SortingKeys& keys, int bucket_bits,
                                        const Blocks& blocks, RankScratch& scratch) {
  const std::size_t n_buckets = std::size_t{1} << bucket_bits;
  auto bucket = [shift = 32 + keys.n_bits() - bucket_bits](Keyed item) { return item >> shift; };
  std::vector<std::vector<std::uint32_t>> place(blocks.size(), std::vector<std::uint32_t>(n_buckets));
  Keyed* order = scratch.order.data();
  Keyed* sorted = scratch.spare.data();
  if (n_buckets == 1) {
    for (std::size_t row = 0; row < bits.size(); ++row) sorted[row] = keyed(keys.of(bits[row]), static_cast<Row>(row));
    return {0, bits.size()};
  }
  blocks.each([&](std::size_t block, std::size_t begin, std::size_t end) {
    std::uint32_t* count = place[block].data();
    for (std::size_t row = begin; row < end; ++row) {
      order[row] = keyed(keys.of(bits[row]), static_cast<Row>(row));
      ++count[bucket(order[row])];
    }
  });
  std::vector<std::size_t> start;
  std::uint32_t next = 0;
  for (std::size_t b = 0; b < n_buckets; ++b) {
    start.push_back(next);
    for (auto& of_block : place) next += std::exchange(of_block[b], next);
  }
  start.push_back(next);
  blocks.each([&](std::size_t block, std::size_t begin, std::size_t end) {
    std::uint32_t* to = place[block].data();
    for (std::size_t i = begin; i < end; ++i) sorted[to[bucket(order[i])]++] = order[i];
  });
  return start;
}

}  // namespace

Code rank_rows(std::span<const std::uint64_t> bits, const SortingKeys& keys, const Blocks& blocks,
               RankScratch& scratch) {
  scratch.order.resize(bits.size());
  scratch.spare.resize(bits.size());
  const int bucket_bits = std::min(SortingKeys::bucket_bits(bits.size()), keys.n_bits());
  const std::vector<std::size_t> start = put_in_buckets(bits, keys, bucket_bits, blocks, scratch);
  scratch.order.swap(scratch.spare);
  const std::size_t n_buckets = start.size() - 1;
  std::vector<Code> n_codes(n_buckets);
  Code before = 0;  // codes of the buckets before, on one thread
  blocks.share(n_buckets, [&](std::size_t bucket) {
    const std::size_t size = start[bucket + 1] - start[bucket];
    const auto items = std::span(scratch.order).subspan(start[bucket], size);
    const auto spare = std::span(scratch.spare).subspan(start[bucket], size);
    if (size < 64) std::sort(items.begin(), items.end());
    else if (sort_items(items, spare, keys.n_bits() - bucket_bits))
      std::copy(spare.begin(), spare.end(), items.begin());
    n_codes[bucket] = rank_sorted(bits, keys.tell_all(), items, before);
    if (blocks.size() == 1) before = n_codes[bucket];
  });
  if (blocks.size() == 1) return before;
  std::vector<Code> first(n_buckets);
  for (std::size_t bucket = 0; bucket < n_buckets; ++bucket)
    first[bucket] = std::exchange(before, before + n_codes[bucket]);
  blocks.share(n_buckets, [&](std::size_t bucket) {
    for (std::size_t i = start[bucket]; i < start[bucket + 1]; ++i) scratch.order[i] += keyed(first[bucket], 0);
  });
  return before;
}

}  // namespace baytree
