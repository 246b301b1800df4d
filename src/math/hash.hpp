// A running hash of numbers, for telling structures apart in memory.
#pragma once

#include <cstdint>

namespace treesample {

// One round of splitmix64 over the hash so far and the next number.
inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) {
  std::uint64_t z = (hash ^ number) + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace treesample
