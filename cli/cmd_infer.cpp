// treesample infer: one model, one method, one answer.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "answer.hpp"
#include "command.hpp"
#include "number_text.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample::cli {
namespace {

class InferCommand final : public Command {
 public:
  std::string name() const override { return "infer"; }
  std::string summary() const override { return "log Z, marginals, samples and the best configuration of a model"; }
  std::string examples() const override {
    return "  treesample infer model.uai\n"
           "  treesample infer model.uai --budget 1000000 --samples 10 --json answer.json\n"
           "  treesample infer model.uai --space tree --order given --c 0.5     the paper's search\n"
           "  treesample infer network.bif --evidence observed.evid --method exact";
  }
  void declare(CommandLine& line) override;
  int run() override;

 private:
  Answer infer(const ModelInput& input);
  bool is_elimination_better(const FactorGraph& graph) const;
  EliminationOptions elimination_options() const;
  Answer search(const FactorGraph& graph);
  Answer eliminate(const FactorGraph& graph) const;
  void add_importance(Answer& answer, const FactorGraph& graph) const;

  std::string model_, evidence_, json_;
  std::string method_ = "auto", space_ = "andor", order_ = "min-fill", ties_ = "lowest", unit_ = "reward";
  std::string memory_ = "4G";
  std::int64_t budget_ = 100'000, seed_ = 0, num_samples_ = 0, num_importance_ = 1000, restarts_ = 0;
  double time_ = 0.0, c_ = 1.0, epsilon_ = 0.1;
  bool is_quiet_ = false;
  const CommandLine* line_ = nullptr;
};

void InferCommand::declare(CommandLine& line) {
  line.positional("MODEL", model_, "Model file (.uai, .bif)");
  line.option("--evidence", evidence_, "FILE", "Evidence file; default MODEL.evid when it exists");
  line_ = &line;
  line.choice("--method", method_, {"auto", "treesample", "exact"},
              "How to infer; auto is exact elimination where it is cheap and no option of the search is given");
  line.choice("--space", space_, kSpaceWords,
              "tree: the paper; graph: equal sub-problems merged; andor: components too");
  line.choice("--order", order_, kOrderWords, "Order of the variables");
  line.option("--restarts", restarts_, 0, 1'000'000, "Randomised orders to try; 0 chooses by the model's size");
  line.option("--budget", budget_, 0, INT64_MAX, "Evaluations that the search may spend");
  line.choice("--budget-unit", unit_, {"reward", "factor"}, "What an evaluation is");
  line.option("--time", time_, 0.0, HUGE_VAL, "Seconds that the search may take; 0 is no limit");
  line.option("--memory", memory_, "SIZE", "Memory that the search or elimination may use, such as 512M");
  line.option("--c", c_, 0.0, HUGE_VAL, "Weight of exploration");
  line.option("--epsilon", epsilon_, 0.0, HUGE_VAL, "Least scale of the exploration bonus");
  line.choice("--ties", ties_, {"lowest", "random"}, "Which of equally good actions to take");
  line.option("--seed", seed_, 0, INT64_MAX, "Seed of everything random");
  line.option("--samples", num_samples_, 0, 1'000'000'000, "Samples to draw and show");
  line.option("--importance", num_importance_, 0, 1'000'000'000,
              "Samples for the importance-sampling estimate of log Z when the answer is not exact");
  line.option("--json", json_, "FILE", "Write everything as JSON; - is standard output, without the summary");
  line.flag("--quiet", is_quiet_, "No progress and no remarks on standard error");
}

int InferCommand::run() {
  const ModelInput input = read_input(model_, evidence_);
  if (!input.evidence_file.empty() && evidence_.empty()) {
    note(is_quiet_, fmt::format("using the evidence in {}", input.evidence_file));
  }
  Answer answer = infer(input);
  answer.options = {{"method", method_},
                    {"space", space_},
                    {"order", order_},
                    {"restarts", fmt::format("{}", restarts_)},
                    {"budget", fmt::format("{}", budget_)},
                    {"budget_unit", unit_},
                    {"time", fmt::format("{}", time_)},
                    {"memory", memory_},
                    {"c", fmt::format("{}", c_)},
                    {"epsilon", fmt::format("{}", epsilon_)},
                    {"ties", ties_},
                    {"seed", fmt::format("{}", seed_)},
                    {"samples", fmt::format("{}", num_samples_)},
                    {"importance", fmt::format("{}", num_importance_)},
                    {"evidence", input.evidence_file}};
  if (json_ != "-") print_summary(answer, input, model_);
  if (!json_.empty()) write_json(answer, input, model_, json_);
  return 0;
}

Answer InferCommand::infer(const ModelInput& input) {
  const auto start = std::chrono::steady_clock::now();
  const FactorGraph& graph = input.model.graph;
  if (method_ == "auto") method_ = is_elimination_better(graph) ? "exact" : "treesample";
  Answer answer = method_ == "exact" ? eliminate(graph) : search(graph);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (answer.log_z == kNegInf) {
    note(is_quiet_ || num_samples_ == 0, "no configuration has positive probability: there is nothing to sample");
    return answer;
  }
  if (!answer.is_exact && num_importance_ > 0) add_importance(answer, graph);
  Random random(static_cast<std::uint64_t>(seed_), "samples");
  for (std::int64_t i = 0; i < num_samples_; ++i) answer.samples.push_back(answer.approximation->sample(random));
  return answer;
}

// Elimination needs tables; where they are small nothing is faster or more exact.
bool InferCommand::is_elimination_better(const FactorGraph& graph) const {
  for (const char* option :
       {"--space", "--order", "--budget", "--budget-unit", "--time", "--c", "--epsilon", "--ties"}) {
    if (line_->is_given(option)) return false;
  }
  if (!graph.has_only_tables()) return false;
  const EliminationCost cost = elimination_cost(graph, elimination_options());
  constexpr double kMostEntries = 1e9;  // some ten seconds
  return cost.marginal_bytes <= static_cast<double>(parse_size("--memory", memory_)) &&
         cost.num_entries <= kMostEntries;
}

EliminationOptions InferCommand::elimination_options() const {
  return {.memory_limit_bytes = parse_size("--memory", memory_),
          .restarts = restarts_ > 0 ? static_cast<int>(restarts_) : 10,
          .seed = static_cast<std::uint64_t>(seed_)};
}

Answer InferCommand::search(const FactorGraph& graph) {
  const SpaceKind kind = parse_space(space_);
  const OrderOptions order{
      .kind = parse_order(order_), .restarts = static_cast<int>(restarts_), .seed = static_cast<std::uint64_t>(seed_)};
  const SearchSpace space = make_search_space(graph, search_order(graph, kind, order), kind);
  SearchOptions options;
  options.budget = budget_;
  options.budget_unit = unit_ == "factor" ? BudgetUnit::kFactor : BudgetUnit::kReward;
  options.c = c_;
  options.epsilon = epsilon_;
  options.ties = ties_ == "random" ? TieRule::kRandom : TieRule::kLowest;
  options.seed = static_cast<std::uint64_t>(seed_);
  if (time_ > 0.0) options.time_limit_seconds = time_;
  options.memory_limit_bytes = parse_size("--memory", memory_);

  const Interruption interruption;
  Progress progress(is_quiet_);
  const auto observe = [&](const SearchProgress& now) {
    const std::int64_t used =
        options.budget_unit == BudgetUnit::kReward ? now.spent.reward_evaluations : now.spent.factor_evaluations;
    const double fraction =
        std::max(static_cast<double>(used) / static_cast<double>(std::max<std::int64_t>(budget_, 1)),
                 time_ > 0.0 ? now.seconds / time_ : 0.0);
    progress.show(fraction, fmt::format("{:.3g} evaluations, {:.2g}/s, {:.3g} nodes, log Z about {:.4f}",
                                        static_cast<double>(used), static_cast<double>(used) / now.seconds,
                                        static_cast<double>(now.num_nodes), now.log_z));
    return !Interruption::is_asked();
  };
  const SearchResult result = tree_sample(graph, space, options, nullptr, observe);
  progress.clear();

  Answer answer;
  answer.method = fmt::format("treesample, space {}, order {} (width {}); exact takes {} evaluations",
                              space_, order_, space.width(), count_text(space.log_exact_cost()));
  answer.stop = to_string(result.report.stop);
  answer.log_z = result.approximation.log_z();
  answer.is_exact = result.approximation.is_exact();
  answer.spent = result.report.spent;
  answer.best = result.approximation.best();
  answer.has_exact_marginals = result.approximation.has_exact_marginals();
  if (answer.log_z != kNegInf) answer.marginals = result.approximation.marginals();
  answer.approximation = std::make_shared<SearchApproximation>(result.approximation);
  return answer;
}

Answer InferCommand::eliminate(const FactorGraph& graph) const {
  const auto elimination = std::make_shared<Elimination>(graph, elimination_options());
  Answer answer;
  answer.method = fmt::format("exact: variable elimination, width {}", elimination->cost().width);
  answer.stop = "exact";
  answer.log_z = elimination->log_z();
  answer.is_exact = true;
  answer.has_exact_marginals = true;
  if (answer.log_z != kNegInf) answer.marginals = elimination->marginals();
  answer.approximation = elimination;
  return answer;
}

void InferCommand::add_importance(Answer& answer, const FactorGraph& graph) const {
  Random random(static_cast<std::uint64_t>(seed_), "importance");
  const Interruption interruption;
  answer.importance = importance_estimate(graph, *answer.approximation, static_cast<int>(num_importance_), random,
                                          [](int) { return !Interruption::is_asked(); });
  const Configuration& sampled = answer.importance->best;
  if (sampled.log_density != kNegInf && (!answer.best || sampled.log_density > answer.best->log_density)) {
    answer.best = sampled;
  }
}

}  // namespace

std::unique_ptr<Command> make_infer_command() { return std::make_unique<InferCommand>(); }

}  // namespace treesample::cli
