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

#include "../core/types.hpp"

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

inline void require(bool holds, const char* contract) {
  if (!holds) throw std::invalid_argument(contract);
}

// Hands a vector over to NumPy without copying it.
template <class Value>
nb::object array_of(std::vector<Value> values, std::vector<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<Value>>(std::move(values));
  Value* data = owned->data();
  nb::capsule owner(owned.get(), [](void* pointer) noexcept { delete static_cast<std::vector<Value>*>(pointer); });
  owned.release();
  return nb::cast(nb::ndarray<nb::numpy, Value>(data, shape.size(), shape.data(), owner));
}

template <class Value>
nb::object array_of(std::vector<Value> values) {
  const std::size_t size = values.size();
  return array_of(std::move(values), {size});
}

}  // namespace baytree::bindings
