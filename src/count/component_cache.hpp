// Counts of components that were searched, by their keys. Whole keys are compared, so that components are never
// confused.
//
// Entries that were stored after a given moment can be removed (docs/methods/zeros.md says when they must be). When the
// memory is full, the least recently used half is removed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "count/count_number.hpp"
#include "count/exact_counts.hpp"

namespace treesample {

struct CachedCount {
  CountNumber count;
  std::uint32_t node = 0;  // of the circuit, or the number of the exact sum, where these are kept
};

class ComponentCache {
 public:
  // Tells the exact counts, if there are any, which of their sums leave it.
  explicit ComponentCache(std::uint64_t memory_limit_bytes, ExactCounts* exact = nullptr);

  static std::uint64_t hash(std::string_view key);
  // Null if the key is not there. Valid until the next call of a function that is not const.
  const CachedCount* find(std::string_view key, std::uint64_t hash);
  // Pre: there is no entry for the key. Returns false for an entry that does not fit into the memory.
  bool store(std::string_view key, std::uint64_t hash, const CachedCount& count);

  // A mark for take_back(): it stands before all entries that are stored from now on.
  [[nodiscard]] std::uint64_t mark() const { return now_stored_; }
  // Removes the entries that were stored after the mark.
  void take_back(std::uint64_t mark);

  // Calls take(key, hash, count) for all entries, and removes them.
  template <typename Take>
  void hand_over(const Take& take) {
    for (const Stored& stored : journal_) {
      const Entry& entry = entries_[stored.index];
      if (entry.key == nullptr || entry.stored != stored.when) continue;
      take(std::string_view(entry.key.get(), entry.key_size), entry.hash, entry.count);
      remove(stored.index);
    }
    journal_.clear();
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t num_evicted() const { return num_evicted_; }
  [[nodiscard]] std::size_t size() const { return num_entries_; }

 private:
  struct Entry {
    std::unique_ptr<char[]> key;
    std::uint32_t key_size = 0;
    std::uint32_t next = kNone;  // in its chain
    std::uint64_t hash = 0;
    std::uint64_t stored = 0;  // time of storing, counted in entries
    std::uint64_t used = 0;    // time of the last use, counted in look-ups
    CachedCount count;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint64_t kAllocation = 16;  // the overhead of an allocation

  void remove(std::uint32_t index);
  void make_room();
  void grow_table();
  void compact_journal();

  std::uint64_t memory_limit_bytes_;
  ExactCounts* exact_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> chains_;  // by hash; their number is a power of two
  struct Stored {
    std::uint64_t when = 0;
    std::uint32_t index = 0;
  };
  std::vector<Stored> journal_;  // entries in the order in which they were stored; some of them were removed since
  std::uint64_t now_stored_ = 0, now_used_ = 0;
  std::size_t num_entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t num_evicted_ = 0;
};

}  // namespace treesample
