#include "treesample/value/make_leaf_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "treesample/error.hpp"
#include "treesample/value/elbo_value.hpp"
#include "treesample/value/network_value.hpp"
#include "treesample/value/possible_value.hpp"

namespace treesample {
namespace {

using Value = std::shared_ptr<const LeafValue>;

constexpr std::string_view kMiniBucketOf = "mini-bucket:";

struct Request {
  std::string argument;  // what follows the word
  const FactorGraph& graph;
  const SearchSpace& space;
  const LeafValueOptions& options;
};

struct Row {
  std::string_view word;
  std::string_view argument;  // as it is shown; empty if there is none
  Value (*make)(const Request& request);
};

Value make_elbo(const Request& request) {
  const LeafValueOptions& options = request.options;
  return product_value(request.graph, request.space,
                       options.mean_field_sweeps > 0
                           ? mean_field(request.graph, options.mean_field_sweeps, options.seed, options.should_settle)
                           : uniform_distributions(request.graph),
                       options.should_stop);
}

Value make_mini_bucket(const Request& request) {
  MiniBucketOptions options = request.options.mini_bucket;
  if (!request.argument.empty()) options.i_bound = mini_bucket_i_bound(std::string(kMiniBucketOf) + request.argument);
  return std::make_shared<WeightedMiniBucket>(request.graph, request.space, options);
}

Value make_network(const Request& request) {
  return without_impossible(request.graph, request.space,
                            load_network_value(request.argument, request.graph, {}, request.space),
                            request.options.should_stop);
}

// Each leaf value has a row.
constexpr std::array kRows = {
    Row{"uniform", "", [](const Request& request) -> Value { return std::make_shared<UniformValue>(request.space); }},
    Row{"means", "",
        [](const Request& request) -> Value { return std::make_shared<ElboValue>(request.graph, request.space); }},
    Row{"elbo", "", make_elbo},
    Row{"maxima", "",
        [](const Request& request) -> Value {
          return maxima_value(request.graph, request.space, request.options.should_stop);
        }},
    Row{"mini-bucket", "", make_mini_bucket},
    Row{kMiniBucketOf, "I", make_mini_bucket},
    Row{"net:", "FILE", make_network},
};

const Row* row_of(const std::string& word) {
  const auto* const found = std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) {
    if (row.argument.empty()) return word == row.word;
    return word.starts_with(row.word) && word.size() > row.word.size();
  });
  if (found == kRows.end() || (found->word == kMiniBucketOf && !mini_bucket_i_bound(word))) return nullptr;
  return found;
}

}  // namespace

const std::vector<std::string>& leaf_value_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> list;
    for (const Row& row : kRows) list.push_back(fmt::format("{}{}", row.word, row.argument));
    return list;
  }();
  return words;
}

bool is_leaf_value_word(const std::string& word) { return row_of(word) != nullptr; }

std::optional<int> mini_bucket_i_bound(const std::string& word) {
  if (!word.starts_with(kMiniBucketOf)) return {};
  int i_bound = -1;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data() + kMiniBucketOf.size(), end, i_bound);
  return error == std::errc() && rest == end && i_bound >= 0 ? std::optional(i_bound) : std::nullopt;
}

std::shared_ptr<const LeafValue> make_leaf_value(const std::string& word, const FactorGraph& graph,
                                                 const SearchSpace& space, const LeafValueOptions& options) {
  const Row* const row = row_of(word);
  check_argument(row != nullptr, "make_leaf_value",
                 fmt::format("'{}' is none of {}", word, fmt::join(leaf_value_words(), ", ")));
  return row->make({word.substr(row->word.size()), graph, space, options});
}

}  // namespace treesample
