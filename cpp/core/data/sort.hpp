// Sorting of keyed rows.
#pragma once

#include <span>
#include <vector>

#include "data/entries.hpp"

namespace baytree {

// Sorts items, not none, by the lowest bits of their keys, of which those with equal keys keep their order. Returns
// whether the sorted items are in `spare`.
bool sort_items(std::span<Keyed> items, std::span<Keyed> spare, int key_bits);

// Sorts by key, keeping the order of items with equal keys when the payloads ascend. Keys are below 2**key_bits.
void sort_by_key(std::vector<Keyed>& items, std::vector<Keyed>& spare, int key_bits);

}  // namespace baytree
