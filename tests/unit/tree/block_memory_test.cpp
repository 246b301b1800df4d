#include "tree/block_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr std::size_t kStep = 4096;

// A word at every kStep bytes that tells where it is.
void fill(const BlockMemory& memory, std::size_t begin) {
  for (std::size_t at = begin; at < memory.num_bytes(); at += kStep) std::memcpy(memory.begin() + at, &at, sizeof at);
}
std::size_t num_wrong(const BlockMemory& memory, std::size_t end) {
  std::size_t result = 0;
  for (std::size_t at = 0; at < end; at += kStep) {
    std::size_t word = 0;
    std::memcpy(&word, memory.begin() + at, sizeof word);
    result += word == at ? 0 : 1;
  }
  return result;
}

TEST(BlockMemory, KeepsItsContentsOnTheWayToLargePagesAndBeyond) {
  for (const bool uses_large_pages : {false, true}) {
    BlockMemory memory(uses_large_pages);
    EXPECT_EQ(memory.num_bytes(), 0U);
    for (std::size_t wanted = kStep; wanted < 2 * BlockMemory::kLargeBytes;
         wanted += wanted / kStep / 3 * kStep + kStep) {
      const std::size_t before = memory.num_bytes();
      memory.grow(wanted);
      ASSERT_GE(memory.num_bytes(), wanted);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory.begin()) % 64, 0U);
      ASSERT_EQ(num_wrong(memory, before), 0U) << wanted;
      fill(memory, (before + kStep - 1) / kStep * kStep);
    }
    memory.grow(kStep);
    EXPECT_GT(memory.num_bytes(), BlockMemory::kLargeBytes) << "it never shrinks";
  }
}

TEST(BlockMemory, TwoLargeOnesHaveTheirOwnPages) {
  BlockMemory both[] = {BlockMemory(true), BlockMemory(true)};
  for (int round = 0; round < 3; ++round) {
    for (BlockMemory& memory : both) {
      const std::size_t before = memory.num_bytes();
      memory.grow(before + BlockMemory::kLargeBytes);
      fill(memory, before);
    }
    for (const BlockMemory& memory : both) EXPECT_EQ(num_wrong(memory, memory.num_bytes()), 0U);
    both[round % 2] = BlockMemory(true);
  }
}

TEST(BlockMemory, SaysThatThereIsNoMore) {
  BlockMemory memory(true);
  memory.grow(BlockMemory::kLargeBytes);
  fill(memory, 0);
  EXPECT_THROW(memory.grow(SIZE_MAX / 4), Error);
  EXPECT_EQ(memory.num_bytes(), BlockMemory::kLargeBytes);
  EXPECT_EQ(num_wrong(memory, memory.num_bytes()), 0U);
}

}  // namespace
}  // namespace treesample
