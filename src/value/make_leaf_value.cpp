#include "treesample/value/make_leaf_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>

#include "treesample/error.hpp"
#include "treesample/value/elbo_value.hpp"
#include "treesample/value/network_value.hpp"
#include "treesample/value/possible_value.hpp"

namespace treesample {
namespace {

const std::string kMiniBucket = "mini-bucket";
const std::string kNetwork = "net:";

bool has_prefix(const std::string& word, const std::string& prefix) { return word.rfind(prefix, 0) == 0; }

// The I of mini-bucket:I.
std::optional<int> i_bound_of(const std::string& word) {
  if (!has_prefix(word, kMiniBucket + ":")) return {};
  int i_bound = -1;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data() + kMiniBucket.size() + 1, end, i_bound);
  return error == std::errc() && rest == end && i_bound >= 0 ? std::optional(i_bound) : std::nullopt;
}

}  // namespace

const std::vector<std::string>& leaf_value_words() {
  static const std::vector<std::string> words = {"uniform",          "means",          "elbo", "maxima", kMiniBucket,
                                                 kMiniBucket + ":I", kNetwork + "FILE"};
  return words;
}

bool is_leaf_value_word(const std::string& word) {
  return word == "uniform" || word == "means" || word == "elbo" || word == "maxima" || word == kMiniBucket ||
         i_bound_of(word) || (has_prefix(word, kNetwork) && word.size() > kNetwork.size());
}

std::shared_ptr<const LeafValue> make_leaf_value(const std::string& word, const FactorGraph& graph,
                                                 const SearchSpace& space, const LeafValueOptions& options) {
  check_argument(is_leaf_value_word(word), "make_leaf_value",
                 fmt::format("'{}' is none of {}", word, fmt::join(leaf_value_words(), ", ")));
  if (word == "uniform") return std::make_shared<UniformValue>(space);
  if (word == "means") return std::make_shared<ElboValue>(graph, space);
  if (word == "maxima") return maxima_value(graph, space, options.should_stop);
  if (word == "elbo") {
    return product_value(graph, space,
                         options.mean_field_sweeps > 0
                             ? mean_field(graph, options.mean_field_sweeps, options.seed, options.should_settle)
                             : uniform_distributions(graph),
                         options.should_stop);
  }
  if (has_prefix(word, kNetwork)) {
    return without_impossible(graph, space, load_network_value(word.substr(kNetwork.size()), graph, {}, space),
                              options.should_stop);
  }
  MiniBucketOptions buckets = options.mini_bucket;
  if (const std::optional<int> i_bound = i_bound_of(word)) buckets.i_bound = i_bound;
  return std::make_shared<WeightedMiniBucket>(graph, space, buckets);
}

}  // namespace treesample
