// The factory of leaf values. Each has a word that names it on a command line or in a file.
//
//   uniform          the paper's default Q_phi
//   means            the means of the factors that are pending, in a space that is a path (value/elbo_value.hpp)
//   elbo             the ELBO of independent variables; by mean field with mean_field_sweeps > 0
//   maxima           the maxima of the factors
//   mini-bucket[:I]  weighted mini-buckets with i-bound I, or with the largest i-bound that MiniBucketOptions allow
//   net:FILE         a trained network, without the states that the tables exclude (value/possible_value.hpp)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/value/leaf_value.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {

struct LeafValueOptions {
  MiniBucketOptions mini_bucket = {};  // the I of the word, if any, replaces i_bound
  int mean_field_sweeps = 0;
  ShouldStop should_settle = {};  // for the sweeps
  std::uint64_t seed = 0;         // for the sweeps
  ShouldStop should_stop = {};    // for elbo, maxima and net
};

// The words as they are shown to a user.
const std::vector<std::string>& leaf_value_words();
[[nodiscard]] bool is_leaf_value_word(const std::string& word);
// The I of mini-bucket:I.
[[nodiscard]] std::optional<int> mini_bucket_i_bound(const std::string& word);

// Throws Error: kArgument for an unknown word and for a word that the model does not allow, and whatever the maker of
// the leaf value throws. Null for maxima if a function declares none.
std::shared_ptr<const LeafValue> make_leaf_value(const std::string& word, const FactorGraph& graph,
                                                 const SearchSpace& space, const LeafValueOptions& options = {});

}  // namespace treesample
