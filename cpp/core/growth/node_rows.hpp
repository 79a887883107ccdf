// The rows of large nodes: those of a node lie side by side, and threads divide them in two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/buffer.hpp"
#include "data/columns.hpp"
#include "parallel.hpp"
#include "types.hpp"

namespace baytree {

class NodeRows {
 public:
  explicit NodeRows(std::vector<Row> rows = {}) : rows_(std::move(rows)) {}

  std::size_t size() const { return rows_.size(); }
  std::span<const Row> of(std::size_t begin, std::size_t end) const { return {rows_.data() + begin, end - begin}; }

  // Work space, without which no rows are divided.
  void make_room() { divided_.resize(rows_.size()), is_lower_.resize(rows_.size()); }
  void give_up_room() { divided_ = Buffer<Row>(), is_lower_ = Buffer<std::uint8_t>(); }

  // Puts the rows of the lower side first, otherwise in the order they had; returns where those of the upper begin.
  std::size_t divide(std::size_t first, std::span<const std::uint8_t> is_lower, const Threads& threads);

  struct Divided {
    std::size_t middle;  // where the upper side begins
    Row lower, upper;    // with the highest code of the lower side, and with the lowest of the upper
  };

  // Rows with codes up to a given one go to the lower side.
  Divided divide_by_code(const Column& column, std::size_t first, std::size_t last, Code last_lower,
                         const Threads& threads);

 private:
  std::vector<Row> rows_;
  Buffer<Row> divided_;  // by position: rows of a node in their new order
  Buffer<std::uint8_t> is_lower_;  // by position: whether a row goes to the lower side
};

}  // namespace baytree
