// The codes of a table that are kept row by row (PackedCodes), in one of the widths that codes have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "data/columns.hpp"
#include "types.hpp"

namespace baytree {

inline constexpr std::size_t kRowsAhead = 32;  // rows whose codes are fetched before they are read

inline void fetch(const void* at) {
#if defined(__GNUC__)
  __builtin_prefetch(at);
#else
  static_cast<void>(at);
#endif
}

template <class Int>
struct CodesOfWidth {
  const Int* codes;
  std::size_t n_columns;
  const std::size_t* first;  // by column: where its codes begin among those of all columns, and the end

  const Int* of(Row row) const { return codes + std::size_t{row} * n_columns; }
};

struct RowCodes {
  std::variant<const std::uint8_t*, const std::uint16_t*, const std::uint32_t*> codes;
  std::size_t n_columns = 0;
  std::vector<std::size_t> first = {};

  // Calls use(codes) with the codes in their width.
  template <class Use>
  decltype(auto) visit(Use&& use) const {
    return std::visit(
        [&]<class Int>(const Int* typed) -> decltype(auto) {
          return use(CodesOfWidth<Int>{typed, n_columns, first.data()});
        },
        codes);
  }
  std::size_t bytes_of_row() const {
    return n_columns * visit([]<class Int>(const CodesOfWidth<Int>&) { return sizeof(Int); });
  }
};

// Those of packed columns.
inline RowCodes row_codes(const Columns& columns, std::vector<std::size_t> first) {
  RowCodes result{{}, columns.columns.size(), std::move(first)};
  std::visit(
      [&]<class Codes>(const Codes& codes) {
        if constexpr (requires { codes.first; }) result.codes = codes.first;
      },
      columns.columns.front().codes);
  return result;
}

}  // namespace baytree
