// A vector of numbers that are not set to anything when it grows: a large table is then touched first by the threads
// that fill it, side by side, and not once before that by one.
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
