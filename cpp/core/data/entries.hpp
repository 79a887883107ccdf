// Entries of lists of rows in ascending order of a column. row_in_node(entry) is the position of the row among the rows
// that an outcome was narrowed to; same_value tells neighbours apart.
#pragma once

#include <cstdint>

#include "types.hpp"

namespace baytree {

// A 32-bit key (a code, say) and a 32-bit payload (a row) in one word, the key on top.
using Keyed = std::uint64_t;
inline Keyed keyed(std::uint32_t key, std::uint32_t payload) { return (static_cast<Keyed>(key) << 32) | payload; }
inline std::uint32_t key_of(Keyed item) { return static_cast<std::uint32_t>(item >> 32); }
inline std::uint32_t payload_of(Keyed item) { return static_cast<std::uint32_t>(item); }
inline std::uint32_t row_in_node(Keyed entry) { return payload_of(entry); }
inline bool same_value(Keyed a, Keyed b) { return key_of(a) == key_of(b); }

// 16 bits for the rank of a value in a subtree, 16 for the row.
struct SmallEntry {
  std::uint32_t packed;
};
inline SmallEntry small_entry(std::uint32_t rank, std::uint32_t row) { return {rank << 16 | row}; }
inline std::uint32_t row_in_node(SmallEntry entry) { return entry.packed & 0xffff; }
inline std::uint32_t rank_of(SmallEntry entry) { return entry.packed >> 16; }
inline bool same_value(SmallEntry a, SmallEntry b) { return (a.packed ^ b.packed) < 0x10000; }

// The row alone.
inline std::uint32_t row_in_node(Row row) { return row; }

}  // namespace baytree
