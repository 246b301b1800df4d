// treesample order: a good order of elimination, in a file.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "command.hpp"
#include "file_roles.hpp"
#include "memory_limit.hpp"
#include "model_input.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/order_file.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

constexpr double kThreadsPower = 0.85;  // the speed-up of several threads is their number to this power
// The search is given up if it takes this many times as long as predicted, plus a while.
constexpr double kMostTimes = 4.0, kSpareSeconds = 10.0;

class OrderCommand final : public Command {
 public:
  std::string name() const override { return "order"; }
  std::string summary() const override { return "Look for an order of elimination that takes little work"; }
  std::string examples() const override {
    return "  treesample order model.uai --time 60 --out model.order\n"
           "  treesample infer model.uai --order model.order";
  }
  void declare(CommandLine& line) override {
    line.positional("MODEL", model_,
                    "Model file (.uai, .bif, .xmlbif, .xdsl, .net, .dsc, .fg, .cnf, .wcsp, .cfn, .wcnf, .json)");
    declare_evidence(line, evidence_);
    line.option("--out", out_, "FILE", "Where the order goes, one variable on each line");
    line.seconds(
        "--time", seconds_,
        "Seconds to look for it, by prediction: the same ones give the same order however busy the machine is");
    line.option("--memory", memory_, "SIZE",
                "For the program, such as 4G; where elimination needs more, the order has slices");
    line.option("--threads", threads_, 0, 4096, "Threads, 0: one per core; with more of them more orders are tried");
    line.option("--seed", seed_, 0, INT64_MAX, "Seed of everything random");
  }
  int run() override;

 private:
  // The order of the whole model: variables that evidence fixes, or that are summed out, come first.
  static OrderFile lifted(const EliminationPlan& plan, const SummedModel& summed, const ReducedModel& reduced);
  [[nodiscard]] EliminationOptions options() const;

  std::string model_, out_, memory_;
  std::vector<std::string> evidence_;
  double seconds_ = 10.0;
  int threads_ = 0;
  std::int64_t seed_ = 0;
};

OrderFile OrderCommand::lifted(const EliminationPlan& plan, const SummedModel& summed, const ReducedModel& reduced) {
  const auto original = [&](int v) { return reduced.variable_of[summed.variable_of()[v]]; };
  OrderFile result;
  std::vector<bool> is_left(reduced.fixed_states.size(), false);
  for (const int v : plan.order) is_left[original(v)] = true;
  for (std::size_t v = 0; v < is_left.size(); ++v) {
    if (!is_left[v]) result.order.push_back(static_cast<int>(v));
  }
  for (const int v : plan.order) result.order.push_back(original(v));
  for (const int v : plan.slice_variables) result.slice_variables.push_back(original(v));
  return result;
}

EliminationOptions OrderCommand::options() const {
  EliminationOptions options{.goal = EliminationGoal::kLogZ, .seed = static_cast<std::uint64_t>(seed_)};
  options.threads = threads_ > 0 ? threads_ : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.order_work = seconds_ * kEntriesPerSecond * std::pow(options.threads, kThreadsPower);
  options.num_uses = HUGE_VAL;  // all of the time is for it
  if (!memory_.empty()) options.most_bytes = static_cast<double>(memory_of(memory_, 0));
  return options;
}

int OrderCommand::run() {
  std::vector<FileRole> kept = evidence_roles(model_, evidence_);
  kept.push_back({"MODEL", model_});
  const std::vector<FileRole> written = {{"--out", out_}};
  check_distinct(kept, written);
  const EliminationOptions wanted = options();
  if (!memory_.empty()) keep_to_memory(memory_of(memory_, 0), threads_);
  const auto start = std::chrono::steady_clock::now();
  const ShouldStop is_late = [start, end = kMostTimes * seconds_ + kSpareSeconds] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > end;
  };
  const ModelInput input =
      read_input(model_, input_options(model_, evidence_, {.runs_them = false, .written = written}));
  check_input(input, {}, /*is_quiet=*/false);
  const SimplifiedModel simplified = simplify(input.model.graph, input.model.evidence);
  const SummedModel summed(simplified.model.graph);
  const EliminationPlan plan = plan_elimination(summed.graph(), wanted, is_late);
  if (!plan.is_possible()) {
    throw Error(ErrorCode::kResource, fmt::format("--memory is '{}', and no slices of the model fit into it", memory_));
  }
  const std::string size = fmt::format("width {}, 2^{:.2f} entries, {} for log Z, {}", plan.width,
                                       std::log2(std::max(1.0, plan.num_entries)), bytes_text(plan.log_z_bytes),
                                       counted(static_cast<std::int64_t>(plan.num_slices), "slice"));
  const std::string text = order_text(lifted(plan, summed, simplified.model), input.model.graph,
                                      {"an order of elimination, first removed first: " + size});
  if (out_.empty()) {
    fmt::print("{}", text);
  } else {
    write_file_atomically(out_, text);
    fmt::print("order           {}\n", size);
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_order_command() { return std::make_unique<OrderCommand>(); }

}  // namespace treesample::cli
