#include "exact/slice_message.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr std::string_view kHead = "treesample slices " TREESAMPLE_VERSION "\n";

class Writer {
 public:
  template <class Number>
  void put(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  template <class Number>
  void put_all(const std::vector<Number>& numbers) {
    put<std::uint64_t>(numbers.size());
    bytes_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  }
  std::string bytes_{kHead};
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  template <class Number>
  Number get() {
    Number number;
    std::memcpy(&number, take(sizeof number).data(), sizeof number);
    return number;
  }
  template <class Number>
  std::vector<Number> get_all() {
    const auto count = get<std::uint64_t>();
    if (count > left_.size() / sizeof(Number)) damaged();
    std::vector<Number> numbers(count);
    if (count > 0) std::memcpy(numbers.data(), take(count * sizeof(Number)).data(), count * sizeof(Number));
    return numbers;
  }
  void check_end() const {
    if (!left_.empty()) damaged();
  }

 private:
  [[noreturn]] static void damaged() { throw Error(ErrorCode::kParse, "the slices of a task are damaged"); }
  std::string_view take(std::size_t count) {
    if (count > left_.size()) damaged();
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }

  std::string_view left_;
};

}  // namespace

std::string slice_message(const FactorGraph& graph, const EliminationPlan& plan, double bytes) {
  Writer to;
  std::vector<int> num_states;
  for (int v = 0; v < graph.num_variables(); ++v) num_states.push_back(graph.num_states(v));
  to.put_all(num_states);
  to.put(graph.num_factors());
  for (const Factor& factor : graph.factors()) {
    to.put_all(factor.scope());
    to.put_all(factor.log_values());
  }
  to.put_all(plan.order);
  to.put_all(plan.slice_variables);
  to.put(plan.num_slices);
  to.put(plan.num_entries);
  to.put(bytes);
  return std::move(to.bytes_);
}

SharedSlices read_slice_message(std::string_view message) {
  if (!message.starts_with(kHead)) {
    throw Error(ErrorCode::kArgument,
                fmt::format("a task is not of version {} of treesample: coordinator and workers need the same version",
                            TREESAMPLE_VERSION));
  }
  Reader from(message.substr(kHead.size()));
  SharedSlices shared;
  for (const int num_states : from.get_all<int>()) shared.graph.add_variable(num_states);
  const auto num_factors = from.get<int>();
  for (int m = 0; m < num_factors; ++m) {
    auto scope = from.get_all<int>();
    shared.graph.add_factor(Factor::table_of_sums(std::move(scope), from.get_all<double>()));
  }
  shared.plan.order = from.get_all<int>();
  shared.plan.slice_variables = from.get_all<int>();
  shared.plan.num_slices = from.get<double>();
  shared.plan.num_entries = from.get<double>();
  shared.bytes = from.get<double>();
  from.check_end();
  return shared;
}

}  // namespace treesample
