// Arrays of the fields of many things, nodes say: threads fill them, some things at a time, and NumPy gets them.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "parallel.hpp"

namespace baytree::bindings {

class Fields {
 public:
  explicit Fields(std::size_t n_things) : n_(n_things) {}

  // value_of(i) of each thing.
  template <class ValueOf>
  void add(const char* name, ValueOf value_of) {
    using Value = decltype(value_of(std::size_t{0}));
    if constexpr (std::is_same_v<Value, bool>) add_as<bool, std::uint8_t>(name, std::move(value_of));
    else add_as<Value, Value>(name, std::move(value_of));
  }

  // write(i, row) writes a row of numbers for each thing.
  template <class Write>
  void add_rows(const char* name, std::size_t n_columns, Write write) {
    const std::shared_ptr<double[]> values = std::make_unique_for_overwrite<double[]>(n_ * n_columns);
    fill_.emplace_back([=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) write(i, values.get() + i * n_columns);
    });
    hand_over_.emplace_back(
        [=, n = n_](nb::dict& result) { result[name] = array_kept_by<double>(values, values.get(), {n, n_columns}); });
  }

  // Arrays of another length, which one thread makes.
  void add_whole(std::function<void()> make, std::function<void(nb::dict&)> hand_over) {
    make_.push_back(std::move(make));
    hand_over_.push_back(std::move(hand_over));
  }

  // What the fields are of is not needed any longer.
  void fill(std::size_t n_threads, Interrupt& interrupt) {
    const std::size_t n_blocks = (n_ + kBlock - 1) / kBlock;
    parallel_for(make_.size() + n_blocks, n_threads, interrupt, [&](std::size_t task, std::size_t) {
      if (task < make_.size()) return make_[task]();
      const std::size_t begin = (task - make_.size()) * kBlock;
      for (const auto& fill : fill_) fill(begin, std::min(begin + kBlock, n_));
    });
    fill_.clear(), make_.clear();
  }

  nb::dict to_dict() const {
    nb::dict result;
    for (const auto& hand_over : hand_over_) hand_over(result);
    return result;
  }

 private:
  static constexpr std::size_t kBlock = 256;

  template <class Element, class Value, class ValueOf>
  void add_as(const char* name, ValueOf value_of) {
    const std::shared_ptr<Value[]> values = std::make_unique_for_overwrite<Value[]>(n_);
    fill_.emplace_back([=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values[i] = static_cast<Value>(value_of(i));
    });
    hand_over_.emplace_back(
        [=, n = n_](nb::dict& result) { result[name] = array_kept_by<Element>(values, values.get(), {n}); });
  }

  std::size_t n_;
  std::vector<std::function<void(std::size_t, std::size_t)>> fill_;
  std::vector<std::function<void()>> make_;
  std::vector<std::function<void(nb::dict&)>> hand_over_;
};

}  // namespace baytree::bindings
