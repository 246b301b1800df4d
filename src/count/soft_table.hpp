// The weights of a factor where it is not 0: a table whose zeros are ignored.
//
// The zeros are already clauses (count/zero_boxes.hpp). So a variable on which the other entries do not depend leaves
// the scope, and a table whose other entries are all equal is a constant. During the search a table is *settled* when
// all its entries in the live states are equal. Otherwise its *residue*, the entries of the live states in their order,
// is part of the key of a component. Equal residues of one table have equal numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "count/count_number.hpp"

namespace treesample {

// The part of a table that is not zero, without the variables on which these entries do not depend.
struct SoftValues {
  std::vector<int> scope;
  std::vector<int> num_states;     // of the scope
  std::vector<double> log_values;  // -inf: an entry to be ignored
};
void drop_irrelevant(SoftValues& values);

// The live states of each variable, as bits in words of 64.
struct LiveStates {
  std::vector<std::uint32_t> first_word;  // by variable, and one entry more for the end
  std::vector<std::uint64_t> words;

  [[nodiscard]] bool is_live(int variable, int state) const {
    return (words[first_word[variable] + static_cast<std::uint32_t>(state / 64)] >> (state % 64) & 1) != 0;
  }
};

class SoftTable {
 public:
  // Weights are relative to exp(log_max), which is counted elsewhere; log_error is the error of each weight.
  SoftTable(SoftValues values, double log_max);

  struct Status {
    bool is_settled = false;
    std::uint32_t residue = 0;  // its number; unused if the table is settled
    CountNumber weight;         // if settled; 0 if no entry is left
  };
  // The status for the present live states. It is cached, and valid until the next call of a function that is not
  // const.
  const Status& status(const LiveStates& live);

  [[nodiscard]] const std::vector<int>& scope() const { return scope_; }
  [[nodiscard]] std::uint64_t bytes() const {
    return fixed_bytes_ + residue_bytes_ + key_bytes_ + statuses_.capacity() * sizeof(Status);
  }
  // Forgets statuses, but never the numbers of residues.
  void forget();

 private:
  // The status with this number, or a new one.
  const Status& known_or_new(std::uint32_t& number, const LiveStates& live);
  [[nodiscard]] Status find_status(const LiveStates& live);
  void visit_live(const LiveStates& live, std::vector<std::uint32_t>& residue) const;

  std::vector<int> scope_, num_states_;
  std::vector<std::uint32_t> entries_;  // number of the weight + 1, 0 for a zero
  std::vector<CountNumber> weights_;
  // Numbers of statuses + 1, by the live states of the scope. The key is an index into an array if the states fit into
  // few bits, one word in a map if they fit into 64, and otherwise the words themselves.
  static constexpr int kFewBits = 14, kWordBits = 64;
  int num_bits_ = 0;
  std::vector<std::uint32_t> by_few_bits_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_word_;
  std::unordered_map<std::string, std::uint32_t> by_words_;
  std::string key_;  // of the last look-up in by_words_
  std::vector<Status> statuses_;
  std::unordered_map<std::string, std::uint32_t> residues_;
  std::vector<std::uint32_t> residue_;
  std::uint64_t fixed_bytes_ = 0, residue_bytes_ = 0, key_bytes_ = 0;
};

}  // namespace treesample
