// The distinct values of a column, as long as they are few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baytree {

class DistinctValues {
 public:
  explicit DistinctValues(std::size_t most) : most_(most), seen_(1024, 0) {}

  // Adds values; NaN is noted apart. Nothing is added once there are too many.
  void add(std::span<const double> values);
  void add(const DistinctValues& other) {
    has_missing_ |= other.has_missing_;
    add(std::span<const double>(other.found_));
  }

  bool too_many() const { return found_.size() > most_; }
  bool has_missing() const { return has_missing_; }
  std::vector<double> sorted() const;

 private:
  void add_one(double value);
  // Where a value is found, or belongs, in the hash table.
  std::uint32_t& place_of(double value);

  std::size_t most_;
  std::vector<double> found_;
  std::vector<std::uint32_t> seen_;  // hash table of positions behind those of values in found_; 0: free
  bool has_missing_ = false;
};

}  // namespace baytree
