// A vector whose numbers are not initialised when it grows: the memory of a large table is then first touched by the
// threads that fill it, in parallel, and not by one thread before them.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace treesample {

template <typename T>
struct UnsetAllocator : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = UnsetAllocator<U>;
  };

  template <typename U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

using UnsetVector = std::vector<double, UnsetAllocator<double>>;

}  // namespace treesample
