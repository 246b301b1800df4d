// Which leaf values are wanted, as a user names them. Text is read here and nowhere else.
//
//   calibrated       learned by the search from the rewards that it has seen (rule mass)
//   uniform          the paper's default Q_phi
//   means            the means of the factors that are pending, in a space that is a path (value/elbo_value.hpp)
//   elbo             the ELBO of independent variables; by mean field where LeafValueOptions ask for it
//   maxima           the maxima of the factors
//   mini-bucket[:I]  weighted mini-buckets with i-bound I, or with the largest i-bound that the memory allows
//   net:FILE         a trained network, without the states that the tables exclude (value/possible_value.hpp)
//   program:FILE     a value function of the user (oracle/program_value.hpp)
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace treesample {

enum class LeafKind {
  kCalibrated,
  kUniform,
  kMeans,
  kElbo,
  kMaxima,
  kMiniBucket,
  kNetwork,
  kProgram,
  kFunction,  // a value function in this process; has a name but no word
};

struct LeafChoice {
  LeafKind kind = LeafKind::kUniform;
  std::optional<int> i_bound = {};  // of mini-buckets
  std::string path = {};            // of a network or program

  friend bool operator==(const LeafChoice&, const LeafChoice&) = default;
};

// Null for text that names no leaf value.
std::optional<LeafChoice> parse_leaf_choice(std::string_view text);
// As the user would write it; "function" for a value function in this process.
std::string to_string(const LeafChoice& choice);
// All words, as they are shown to a user, with bars between them.
const std::string& leaf_choice_words();

}  // namespace treesample
