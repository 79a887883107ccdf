// A vector whose new numbers are not set to zero, for numbers that threads are about to write: whoever touches new
// memory first waits for it, and one thread that clears it waits alone.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace baytree {

template <class Value>
struct NotCleared : std::allocator<Value> {
  static_assert(std::is_trivial_v<Value>);
  template <class Other>
  struct rebind {
    using other = NotCleared<Other>;
  };

  template <class Other>
  void construct(Other* at) {
    ::new (static_cast<void*>(at)) Other;
  }
  template <class Other, class... Given>
  void construct(Other* at, Given&&... given) {
    ::new (static_cast<void*>(at)) Other(std::forward<Given>(given)...);
  }
};

template <class Value>
using Buffer = std::vector<Value, NotCleared<Value>>;

}  // namespace baytree
