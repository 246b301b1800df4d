// treesample info: the contents of a model, and the cost of an exact answer.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include "command.hpp"
#include "memory_limit.hpp"
#include "model_input.hpp"
#include "reading_watch.hpp"
#include "standard_streams.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

// The result of the work; none if it was asked to stop.
template <class Work>
auto unless_stopped(const Work& work) -> std::optional<decltype(work())> {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    return {};
  }
}

// Contexts of a large model may take more memory than a search space may have.
std::string unless_too_large(const std::function<std::string()>& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResource) throw;
    return "too large";
  }
}

// Shares of the time at which the parts end. Time that one part leaves is available to the next.
constexpr double kSimplifyEnd = 0.2, kEliminationEnd = 0.6;
constexpr double kOrdersShare = 0.2;  // of the time, by prediction

class InfoCommand final : public Command {
 public:
  std::string name() const override { return "info"; }
  std::string summary() const override { return "Sizes of a model, and what exact inference would cost"; }
  std::string examples() const override {
    return "  treesample info model.uai\n  treesample info network.bif --evidence observed.evid\n"
           "  treesample info model.json";
  }
  void declare(CommandLine& line) override {
    line.positional("MODEL", model_,
                    "Model file (.uai, .bif, .xmlbif, .xdsl, .net, .dsc, .fg, .cnf, .wcsp, .cfn, .wcnf, .json)");
    declare_evidence(line, evidence_);
    line.option("--seed", seed_, 0, INT64_MAX, "Seed of the randomised orders");
    line.seconds("--time", seconds_, "Seconds; what takes longer is left out");
    line.option("--memory", memory_, "SIZE", "For the model and this; elimination that needs more is sliced [4096M]");
  }
  int run() override;

 private:
  static void print_factors(const FactorGraph& graph);
  void print_elimination(const FactorGraph& graph) const;
  void print_spaces(const FactorGraph& graph) const;
  // True once this share of the time is over.
  [[nodiscard]] ShouldStop until(double share) const {
    const auto end = start_ + std::chrono::duration<double>(share * seconds_);
    return [end] { return std::chrono::steady_clock::now() >= end; };
  }
  [[nodiscard]] double share_done() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() / std::max(seconds_, 1e-9);
  }
  [[nodiscard]] std::string not_in_time() const {
    return fmt::format("not known within {:g} seconds (--time)", seconds_);
  }

  std::string model_, memory_;
  std::vector<std::string> evidence_;
  std::int64_t seed_ = 0;
  double seconds_ = 20.0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void InfoCommand::print_factors(const FactorGraph& graph) {
  int most_states = 0, fewest_states = graph.num_variables() > 0 ? INT32_MAX : 0;
  for (int v = 0; v < graph.num_variables(); ++v) {
    most_states = std::max(most_states, graph.num_states(v));
    fewest_states = std::min(fewest_states, graph.num_states(v));
  }
  std::size_t largest_scope = 0, num_entries = 0, num_zeros = 0;
  int num_functions = 0, num_clauses = 0;
  for (const Factor& factor : graph.factors()) {
    largest_scope = std::max(largest_scope, factor.scope().size());
    if (!factor.is_table()) ++num_functions;
    if (factor.is_clause()) ++num_clauses;
    if (!factor.is_table() || factor.is_clause()) continue;
    num_entries += factor.log_values().size();
    for (const double value : factor.log_values()) num_zeros += value == kNegInf ? 1 : 0;
  }
  const std::string configurations = count_text(graph.log_num_configurations());
  fmt::print("variables       {}, with {} to {}; {} configuration{}\n", graph.num_variables(), fewest_states,
             counted(most_states, "state"), configurations, configurations == "1" ? "" : "s");
  const std::string clauses = num_clauses == 0 ? "" : counted(num_clauses, "clause") + ", ";
  fmt::print("factors         {} ({}{}), over at most {}\n", graph.num_factors(), clauses,
             counted(num_functions, "function"), counted(static_cast<std::int64_t>(largest_scope), "variable"));
  fmt::print("table entries   {}, {:.0f} % of them zero\n", num_entries,
             num_entries == 0 ? 0.0 : 100.0 * static_cast<double>(num_zeros) / static_cast<double>(num_entries));
}

// Done as in `infer`: without barren variables, in the best of many orders, and in slices if memory does not suffice.
void InfoCommand::print_elimination(const FactorGraph& graph) const {
  const ShouldStop end = until(kEliminationEnd);
  if (end()) {
    fmt::print("elimination     {}\n", not_in_time());
    return;
  }
  const SummedModel summed(graph);
  if (summed.num_summed_out() > 0) {
    fmt::print("barren          {} summed out before elimination\n", counted(summed.num_summed_out(), "variable"));
  }
  EliminationOptions options{.goal = EliminationGoal::kLogZ, .seed = static_cast<std::uint64_t>(seed_)};
  options.order_work = std::min(options.order_work, kOrdersShare * seconds_ * kEntriesPerSecond);
  const auto plan = unless_stopped([&] { return plan_elimination(summed.graph(), options, end); });
  if (!plan) {
    fmt::print("elimination     {}\n", not_in_time());
    return;
  }
  fmt::print(
      "elimination     width {}, largest table 2^{:.1f} entries, 2^{:.1f} in all, {} for log Z, {} for marginals\n",
      plan->width, plan->log2_largest_bucket, std::log2(std::max(1.0, plan->num_entries)),
      bytes_text(plan->log_z_bytes), bytes_text(plan->marginal_bytes));
  options.most_bytes = static_cast<double>(memory_of(memory_, Limits{}.bytes));
  if (plan->log_z_bytes <= options.most_bytes) return;
  const auto sliced = unless_stopped([&] { return plan_slices(summed.graph(), *plan, options, end); });
  const std::string memory = bytes_text(options.most_bytes);
  if (!sliced) {
    fmt::print("slices          {}\n", not_in_time());
  } else if (!sliced->is_possible()) {
    fmt::print("slices          none that fit into {}\n", memory);
  } else {
    fmt::print("slices          {} fit into {}: 2^{:.1f} entries in all of them\n",
               static_cast<std::int64_t>(sliced->num_slices), memory, std::log2(sliced->num_entries));
  }
}

void InfoCommand::print_spaces(const FactorGraph& graph) const {
  constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};
  fmt::print("\nReward evaluations for an exact answer by search (and the width: variables in the largest context)\n");
  fmt::print("{:<12}", "order");
  for (const SpaceKind kind : kSpaces) fmt::print("{:>20}", to_string(kind));
  fmt::print("\n");
  // Each of the twelve gets an equal share of the time that is left when it starts. None begins late: a look at a
  // million factors takes long, too.
  int num_left = 12;
  bool is_any_late = false;
  for (const OrderKind order : {OrderKind::kGiven, OrderKind::kDegree, OrderKind::kMinFill, OrderKind::kMinWidth}) {
    fmt::print("{:<12}", to_string(order));
    for (const SpaceKind kind : kSpaces) {
      const double done = share_done();
      const double end = done + std::max(0.0, 1.0 - done) / num_left--;
      const auto cost = [&] {
        const OrderOptions options{.kind = order,
                                   .seed = static_cast<std::uint64_t>(seed_),
                                   .should_settle = until(0.5 * (done + end)),
                                   .should_stop = until(end)};
        const std::vector<int> found = search_order(graph, kind, options);
        const SearchSpace space = make_search_space(graph, found, kind, until(end));
        return fmt::format("{} ({})", count_text(space.log_exact_cost()), space.width());
      };
      const auto text = done < 1.0 ? unless_stopped([&] { return unless_too_large(cost); }) : std::nullopt;
      is_any_late = is_any_late || !text;
      fmt::print("{:>20}", text.value_or("-"));
      flush_early();
    }
    fmt::print("\n");
  }
  if (is_any_late) fmt::print("- is {}\n", not_in_time());
}

int InfoCommand::run() {
  start_ = std::chrono::steady_clock::now();
  keep_to_memory(memory_of(memory_, Limits{}.bytes));
  auto watch = std::make_unique<const ReadingWatch>(std::vector{model_}, seconds_);
  const ModelInput input =
      read_input(model_, input_options(model_, evidence_, {.runs_them = false}, {},
                                       unpack_limits(memory_of(memory_, Limits{}.bytes), until(1.0))));
  watch.reset();
  check_input(input, {}, /*is_quiet=*/false);
  const Evidence& evidence = input.model.evidence;
  fmt::print("model           {}\n", printable(model_));
  if (!evidence.empty() || !input.model.soft_evidence.empty()) {
    const std::string from = input.evidence_file.empty() ? "" : printable(input.evidence_file) + ": ";
    fmt::print("evidence        {}{} observed; what follows is the model without them\n", from,
               counted(std::ssize(evidence), "variable"));
  }
  ReducedModel reduced = input.conditioned();
  print_factors(reduced.graph);
  if (reduced.graph.has_only_tables()) {
    SimplifiedModel simplified =
        simplify(with_soft_evidence(input.model.graph, input.model.soft_evidence), evidence, until(kSimplifyEnd));
    if (simplified.report.is_changed()) {
      reduced = std::move(simplified.model);
      fmt::print("simplified      {}; left, and in what follows: {}, {}\n", simplified.report.brief(),
                 counted(reduced.graph.num_variables(), "variable"), counted(reduced.graph.num_factors(), "factor"));
    }
  }
  const std::vector<Factor>& factors = reduced.graph.factors();
  if (std::any_of(factors.begin(), factors.end(),
                  [](const Factor& factor) { return factor.is_table() && !factor.has_table(); })) {
    fmt::print("methods         count: a clause is too long for a table\n");
    return 0;
  }
  flush_early();  // because orders of large models take seconds
  print_elimination(reduced.graph);
  flush_early();
  print_spaces(reduced.graph);
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_info_command() { return std::make_unique<InfoCommand>(); }

}  // namespace treesample::cli
