// Array types at the boundary to Python: exact dtypes, no conversion, results as new arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/table.hpp"
#include "types.hpp"

namespace baytree::bindings {

namespace nb = nanobind;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
template <class Value>
using Vector = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline Table table_of(const Matrix& matrix) {
  return {matrix.data(), matrix.shape(0), matrix.shape(1), matrix.stride(0), matrix.stride(1)};
}

template <class Value>
std::span<const Value> span_of(const Vector<Value>& vector) {
  return {vector.data(), vector.shape(0)};
}

template <class Value>
std::vector<Value> copy_of(const Vector<Value>& vector) {
  return {vector.data(), vector.data() + vector.shape(0)};
}

// No array: an empty vector.
template <class Value>
std::vector<Value> copy_of(const std::optional<Vector<Value>>& vector) {
  return vector ? copy_of(*vector) : std::vector<Value>{};
}

// An array of memory that `owner` owns; the array keeps it as long as it lives.
template <class Element, class Owner>
nb::object array_kept_by(Owner owner, void* data, const std::vector<std::size_t>& shape) {
  auto owned = std::make_unique<Owner>(std::move(owner));
  nb::capsule keeps(owned.get(), [](void* pointer) noexcept { delete static_cast<Owner*>(pointer); });
  owned.release();
  return nb::cast(nb::ndarray<nb::numpy, Element>(data, shape.size(), shape.data(), keeps));
}

// Hands a vector over to NumPy without copying it, as an array of elements of the same size.
template <class Element, class Values>
nb::object array_as(Values values, const std::vector<std::size_t>& shape) {
  static_assert(sizeof(Element) == sizeof(typename Values::value_type));
  void* data = values.data();
  return array_kept_by<Element>(std::move(values), data, shape);
}

template <class Value>
nb::object array_of(std::vector<Value> values, const std::vector<std::size_t>& shape) {
  return array_as<Value>(std::move(values), shape);
}

template <class Value>
nb::object array_of(std::vector<Value> values) {
  const std::size_t size = values.size();
  return array_as<Value>(std::move(values), {size});
}

// Booleans; std::vector<bool> would not be an array.
inline nb::object array_of_booleans(std::vector<std::uint8_t> values) {
  const std::size_t size = values.size();
  return array_as<bool>(std::move(values), {size});
}

}  // namespace baytree::bindings
