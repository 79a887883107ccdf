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
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "data/buffer.hpp"
#include "parallel.hpp"

namespace baytree::bindings {

class Fields {
 public:
  explicit Fields(std::size_t n_things = 0) : n_(n_things) {}

  // value_of(i) of each thing, as an Element.
  template <class Element, class ValueOf>
  void add(const char* name, ValueOf value_of) {
    auto& values = add_array<Element>(name, n_);
    fill_.emplace_back([&values, value_of = std::move(value_of)](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values[i] = static_cast<Stored<Element>>(value_of(i));
    });
  }

  // write(i, row) writes a row of numbers for each thing.
  template <class Write>
  void add_rows(const char* name, std::size_t n_columns, Write write) {
    auto& values = add_array<double>(name, n_ * n_columns);
    arrays_.back()->n_columns = n_columns;
    fill_.emplace_back([&values, n_columns, write = std::move(write)](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) write(i, values.data() + i * n_columns);
    });
  }

  // An array of entries, of which each thing may have several; a task of one thread fills it.
  template <class Element>
  auto& add_entries(const char* name) {
    return add_array<Element>(name, 0);
  }
  // Where the entries of each thing begin, and the end of the last.
  template <class Element>
  auto& add_starts(const char* name) {
    auto& starts = add_array<Element>(name, 1);
    starts[0] = 0;
    arrays_.back()->is_start = true;
    return starts;
  }
  void add_task(std::function<void()> task) { tasks_.push_back(std::move(task)); }

  // What the fields are of is not needed any longer.
  void fill(std::size_t n_threads, Interrupt& interrupt) {
    const std::size_t n_blocks = (n_ + kBlock - 1) / kBlock;
    parallel_for(tasks_.size() + n_blocks, n_threads, interrupt, [&](std::size_t task, std::size_t) {
      if (task < tasks_.size()) return tasks_[task]();
      const std::size_t begin = (task - tasks_.size()) * kBlock;
      for (const auto& fill : fill_) fill(begin, std::min(begin + kBlock, n_));
    });
    for (const auto& array : arrays_) std::visit([](auto& values) { values.shrink_to_fit(); }, array->values);
    fill_.clear(), tasks_.clear();
  }

  // The filled fields of many, which have the same names, one behind the other; what is copied is given up.
  static Fields joined(std::vector<Fields> parts) {
    Fields all = std::move(parts[0]);
    for (std::size_t k = 0; k < all.arrays_.size(); ++k) {
      Array& whole = *all.arrays_[k];
      std::visit([&](auto& values) { append(values, whole.is_start, parts, k); }, whole.values);
    }
    for (std::size_t p = 1; p < parts.size(); ++p) all.n_ += parts[p].n_;
    return all;
  }

  nb::dict to_dict() && {
    nb::dict result;
    for (const auto& array : arrays_)
      result[array->name] = std::visit([&](auto& values) { return handed_over(*array, std::move(values)); },
                                       array->values);
    arrays_.clear();
    return result;
  }

 private:
  static constexpr std::size_t kBlock = 256;

  template <class Element>
  using Stored = std::conditional_t<std::is_same_v<Element, bool>, std::uint8_t, Element>;

  struct Array {
    const char* name;
    bool is_boolean;
    bool is_start = false;
    std::size_t n_columns = 0;  // 0: of numbers, not of rows
    std::variant<Buffer<double>, Buffer<float>, Buffer<std::int64_t>, Buffer<std::int32_t>, Buffer<std::uint8_t>>
        values;
  };

  // References to an array stay valid when the fields are moved.
  template <class Element>
  Buffer<Stored<Element>>& add_array(const char* name, std::size_t size) {
    arrays_.push_back(
        std::make_unique<Array>(Array{name, std::is_same_v<Element, bool>, false, 0, Buffer<Stored<Element>>(size)}));
    return std::get<Buffer<Stored<Element>>>(arrays_.back()->values);
  }

  // Appends the array number k of all parts but the first. Where entries begin, they do so behind those of the parts
  // before.
  template <class Value>
  static void append(Buffer<Value>& values, bool is_start, std::vector<Fields>& parts, std::size_t k) {
    std::size_t size = values.size();
    for (std::size_t p = 1; p < parts.size(); ++p) size += std::get<Buffer<Value>>(parts[p].arrays_[k]->values).size();
    values.reserve(size);
    for (std::size_t p = 1; p < parts.size(); ++p) {
      const auto from = std::exchange(std::get<Buffer<Value>>(parts[p].arrays_[k]->values), {});
      const Value before = is_start ? values.back() : Value{0};
      for (std::size_t i = is_start; i < from.size(); ++i) values.push_back(static_cast<Value>(before + from[i]));
    }
  }

  template <class Value>
  static nb::object handed_over(const Array& array, Buffer<Value> values) {
    const std::size_t size = values.size();
    if (array.is_boolean) {
      if constexpr (std::is_same_v<Value, std::uint8_t>) return array_as<bool>(std::move(values), {size});
    }
    if (array.n_columns == 0) return array_as<Value>(std::move(values), {size});
    return array_as<Value>(std::move(values), {size / array.n_columns, array.n_columns});
  }

  std::size_t n_;
  std::vector<std::unique_ptr<Array>> arrays_;
  std::vector<std::function<void(std::size_t, std::size_t)>> fill_;
  std::vector<std::function<void()>> tasks_;
};

}  // namespace baytree::bindings
