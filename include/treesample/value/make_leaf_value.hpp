// The factory of leaf values, by the words that name them on a command line or in a file.
//
//   uniform          the paper's default Q_phi
//   means            the means of the factors that are pending, in a space that is a path (value/elbo_value.hpp)
//   elbo             the ELBO of independent variables; by mean field with mean_field_sweeps > 0
//   maxima           the maxima of the factors
//   mini-bucket[:I]  weighted mini-buckets, of i-bound I or of the largest that is wanted
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
  MiniBucketOptions mini_bucket = {};  // an I in the word replaces i_bound
  int mean_field_sweeps = 0;
  ShouldStop should_settle = {};  // of the sweeps
  std::uint64_t seed = 0;         // of the sweeps
  ShouldStop should_stop = {};    // of elbo, maxima and net
};

// The words, as they are shown to a user.
const std::vector<std::string>& leaf_value_words();
[[nodiscard]] bool is_leaf_value_word(const std::string& word);
// The I of mini-bucket:I.
[[nodiscard]] std::optional<int> mini_bucket_i_bound(const std::string& word);

// Throws Error: kArgument for an unknown word and for a word that the model does not allow, and what the leaf value's
// own maker throws. Null for maxima where a function declares none.
std::shared_ptr<const LeafValue> make_leaf_value(const std::string& word, const FactorGraph& graph,
                                                 const SearchSpace& space, const LeafValueOptions& options = {});

}  // namespace treesample
