#include "infer/known_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/io/order_file.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// The order in terms of the reduced model.
std::vector<int> reduced_order(const std::vector<int>& order, const ReducedModel& model) {
  std::vector<int> reduced_of(model.fixed_states.size(), -1);
  for (std::size_t i = 0; i < model.variable_of.size(); ++i) reduced_of[model.variable_of[i]] = static_cast<int>(i);
  std::vector<int> reduced;
  std::vector<bool> is_listed(reduced_of.size(), false);
  for (const int v : order) {
    check_range("infer", "variable of elimination_order", v, 0, std::ssize(reduced_of) - 1);
    check_argument(!is_listed[v], "infer", fmt::format("variable {} is twice in elimination_order", v));
    is_listed[v] = true;
    if (reduced_of[v] >= 0) reduced.push_back(reduced_of[v]);
  }
  return reduced;
}

}  // namespace

void set_known_order(InferOptions& options, const FactorGraph& graph, const ReducedModel& left) {
  if (options.order_file && !options.elimination_order.empty()) {
    throw OptionError("order-file", "is given, and an order too: leave one of them out");
  }
  if (options.order_file) {
    OrderFile file = read_order(*options.order_file, graph);
    options.elimination_order = std::move(file.order);
    options.slice_variables = std::move(file.slice_variables);
  }
  options.elimination_order = reduced_order(options.elimination_order, left);
  options.slice_variables = reduced_order(options.slice_variables, left);
}

InferRequest request_without(const SummedModel& summed, const InferRequest& request) {
  std::vector<int> left_of(summed.variable_of().size() + static_cast<std::size_t>(summed.num_summed_out()), -1);
  const auto& variable_of = summed.variable_of();
  for (std::size_t i = 0; i < variable_of.size(); ++i) left_of[variable_of[i]] = static_cast<int>(i);
  InferRequest left = request;
  for (std::vector<int>* const list : {&left.options.elimination_order, &left.options.slice_variables}) {
    for (int& v : *list) v = left_of[v];
    std::erase(*list, -1);
  }
  return left;
}

std::optional<EliminationPlan> known_plan(const FactorGraph& graph, const InferRequest& request,
                                          const ShouldStop& should_stop) {
  const InferOptions& known = request.options;
  if (known.elimination_order.empty() || std::ssize(known.elimination_order) != graph.num_variables()) return {};
  return plan_in_order(graph, known.elimination_order, known.slice_variables, should_stop);
}

SliceRange slice_range(const InferOptions& options, double num_slices) {
  if (!options.slices) return {};
  const std::string_view text = *options.slices;
  const std::size_t mark = std::min(text.find(".."), text.find('/'));
  const std::string_view name = mark == std::string_view::npos ? "" : text.substr(mark, text[mark] == '/' ? 1 : 2);
  const auto first = name.empty() ? std::nullopt : parse_integer(text.substr(0, mark));
  const auto second = name.empty() ? std::nullopt : parse_integer(text.substr(mark + name.size()));
  if (first && second && name == ".." && 0 <= *first && *first < *second) {
    return {static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*second)};
  }
  // Differences of products that doubles hold exactly: neighbours meet, and all parts together are all slices.
  constexpr std::int64_t kMostParts = 1 << 20;
  if (first && second && name == "/" && 1 <= *first && *first <= *second && *second <= kMostParts) {
    const auto end_of = [&](std::int64_t part) {
      return static_cast<std::uint64_t>(
          std::floor(num_slices * static_cast<double>(part) / static_cast<double>(*second)));
    };
    return {end_of(*first - 1), end_of(*first)};
  }
  throw OptionError("slices",
                    fmt::format("is '{}', allowed are A..B with whole numbers 0 <= A < B, and K/N, the K-th of "
                                "N parts, with 1 <= K <= N <= {}",
                                printable(text), kMostParts));
}

}  // namespace treesample
