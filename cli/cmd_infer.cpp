// treesample infer: one model, one method, one answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <optional>

#include "answer_trust.hpp"
#include "command.hpp"
#include "first_answer.hpp"
#include "infer_defaults.hpp"
#include "infer_methods.hpp"
#include "infer_support.hpp"
#include "option_uses.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"
#include "uai_output.hpp"

namespace treesample::cli {
namespace {

constexpr std::int64_t kLeastDrawn = 100;
constexpr double kImportanceEnd = 0.95;  // of --time, where --samples are to follow
constexpr double kSimplifyShare = 0.1;   // for what simplification does beyond one pass

// Adds up to `count` samples to the answer, fewer once it should stop.
using DrawChunk = std::function<void(std::int64_t count, const std::function<bool()>& should_stop)>;

class InferCommand final : public Command {
 public:
  std::string name() const override { return "infer"; }
  std::string summary() const override { return "log Z, marginals, samples and the best configuration of a model"; }
  std::string examples() const override {
    return "  treesample infer model.uai\n"
           "  treesample infer model.uai --budget 1000000 --samples 10 --json answer.json\n"
           "  treesample infer model.uai --space tree --order given --c 0.5     the paper's search\n"
           "  treesample infer model.uai --method smc --order given --budget 10000\n"
           "  treesample infer network.bif --evidence observed.evid --method exact\n"
           "  treesample infer model.json --calls 500 --journal run.journal --oracle-workers 4";
  }
  void declare(CommandLine& line) override;
  int run() override;

 private:
  void check_outputs() const;
  static void finish_programs(OracleSet& oracles, Answer& answer);
  Answer answer_of(const FactorGraph& graph);
  Answer answer_within_time(const FactorGraph& graph);
  [[nodiscard]] bool is_time_over() const;
  void add_samples(Answer& answer, const ModelInput& input) const;
  void add_exact_samples(Answer& answer, const ModelInput& input, Random& random) const;
  void draw_within_time(Answer& answer, const ModelInput& input, const DrawChunk& draw) const;
  const char* why_sampling_ended(bool is_out_of_tries) const;
  std::vector<std::pair<std::string, std::string>> resolved_options(const ModelInput& input) const;

  InferOptions options_;
  std::string model_, evidence_, json_, journal_, uai_out_;
  bool is_kept_whole_ = false, is_retrying_failed_ = false;
  ProgramUse programs_;
  bool was_auto_ = false;
  const CommandLine* line_ = nullptr;
  std::optional<Stopwatch> clock_;  // while the method runs
};

void InferCommand::declare(CommandLine& line) {
  line_ = &line;
  line.positional("MODEL", model_, "Model file (.uai, .bif, .json)");
  line.option("--evidence", evidence_, "FILE", "Evidence file; default MODEL.evid when it exists");
  line.choice("--method", options_.method, kMethodWords,
              "How to infer; auto is exact elimination where it is cheap and no option of the search is given, "
              "else treesample");
  line.choice("--space", options_.space, kSpaceWords,
              "tree: the paper; graph: equal sub-problems merged; andor: components too");
  line.choice("--order", options_.order, kOrderWords, "Order of the variables (treesample, sis, smc)");
  line.option(
      "--prior", options_.prior, "uniform|calibrated|mini-bucket[:I]|net:FILE",
      "Values before anything is evaluated; calibrated learns from the rewards seen so far (with --select mass, "
      "default for programs); auto uses mini-buckets where elimination does not fit");
  line.option("--restarts", options_.restarts, 0, 1'000'000, "Randomised orders to try; 0 chooses by the model's size");
  line.option("--budget", options_.budget, 0, INT64_MAX,
              "Evaluations that the method may spend; no limit by default when --time is given");
  line.choice("--budget-unit", options_.unit, {"reward", "factor", "cost", "call"},
              "What --budget counts. reward: sums of the factors that a variable completes, as in the paper; factor: "
              "each factor; cost: seconds of programs, as declared in the model, else as measured (tables are free); "
              "call: evaluations by programs, the default where the model has some (except for --select q-uct)");
  line.option("--calls", options_.num_calls, 0, INT64_MAX,
              "Evaluations by programs that may be paid for: short for --budget N --budget-unit call");
  line.option("--time", options_.time, 0.0, HUGE_VAL,
              "Seconds until the answer, from the start of the program; 0 is no limit");
  line.option("--memory", options_.memory, "SIZE", "Memory that the method may use, such as 512M");
  line.option("--c", options_.c, 0.0, HUGE_VAL, "Weight of exploration (q-uct, mass)");
  line.option("--epsilon", options_.epsilon, 0.0, HUGE_VAL, "Least scale of the exploration bonus (q-uct)");
  line.choice("--ties", options_.ties, {"lowest", "random"}, "Which of equally good actions to take (q-uct)");
  line.choice(
      "--select", options_.select, {"q-uct", "gap", "mass"},
      "q-uct: the paper's rule; gap: the most unresolved mass between certified bounds, all edges of a node at once; "
      "mass: the most unresolved mass by estimates, for factors that can only be evaluated (default for programs)");
  line.option("--gap", options_.gap, 0.0, HUGE_VAL,
              "Stop when the certified bounds of log Z are this close (gap, mass)");
  line.option("--confidence", options_.confidence, 0.0, 1.0, "Of the interval from samples with bounded weights (gap)");
  line.choice("--sampler", options_.sampler, {"lower", "upper", "rejection"},
              "What --samples come from: certified divergence, bounded weights, or exact by rejection (gap)");
  line.option("--max-tries", options_.max_tries, 1, INT64_MAX, "Draws that --sampler rejection may make");
  line.option("--trace", options_.trace, "FILE",
              "Write seconds, evaluations, bounds and estimate as CSV (treesample; only gap has both bounds)");
  line.option("--ess-threshold", options_.ess_threshold, 0.0, 1.0,
              "Resample when the effective sample size falls below this fraction of the particles (smc)");
  line.choice("--resampling", options_.resampling, {"multinomial", "stratified", "systematic"}, "Scheme (smc)");
  line.option("--sweeps", options_.num_sweeps, 1, 1'000'000, "Sweeps per sample; the thinning of a chain (gibbs)");
  line.choice("--gibbs-mode", options_.gibbs_mode, {"restarts", "chain"},
              "A new start for every sample, as in the paper, or one long chain (gibbs)");
  line.option("--burn-in", options_.burn_in, 0, 1'000'000'000, "Sweeps before the first sample of a chain (gibbs)");
  line.option("--messages", options_.num_messages, 1, 1'000'000, "Message steps before each variable is sampled (bp)");
  line.option("--damping", options_.damping, 0.0, 0.999, "Weight of the old message (bp)");
  line.option("--seed", options_.seed, 0, INT64_MAX, "Seed of everything random");
  line.option("--samples", options_.num_samples, 0, 1'000'000'000, "Samples to draw and show");
  line.option("--importance", options_.num_importance, 0, 1'000'000'000,
              "Samples for the importance-sampling estimate of log Z when a search is not exact");
  line.option("--journal", journal_, "FILE",
              "Keep what programs computed, and go on from there next time (.json models; FILE.log has their stderr)");
  line.flag("--retry-failed", is_retrying_failed_,
            "Make evaluations again that the journal has as failed (.json models, on_failure)");
  declare_consent(line, programs_);
  line.option("--oracle-workers", options_.oracle_workers, 1, OracleSet::kMaxWorkers,
              "Programs that compute factors at the same time (.json models)");
  line.choice("--oracle-order", options_.oracle_order, {"arrival", "submission"},
              "With several workers: use values as they arrive, or in the order in which they were asked for, which "
              "gives the same result every time");
  line.option("--json", json_, "FILE", "Write everything as JSON; - is standard output, without the summary");
  line.option("--uai-out", uai_out_, "FILE",
              "Write FILE.PR (log10 Z) and FILE.MAR (marginals) as the UAI competitions do");
  line.flag("--no-simplify", is_kept_whole_, "Keep states that are impossible and factors that are constant");
  line.flag("--quiet", options_.is_quiet, "No progress and no remarks on standard error");
}

int InferCommand::run() {
  check_outputs();
  programs_.is_quiet = options_.is_quiet;
  take_calls(options_, *line_);
  ModelInput input = read_input(model_, evidence_,
                                {.num_workers = static_cast<int>(options_.oracle_workers),
                                 .journal = journal_,
                                 .log = journal_.empty() ? "" : journal_ + ".log",
                                 .retry_failed = is_retrying_failed_,
                                 .is_interrupted = [this] { return Interruption::is_asked() || is_time_over(); }},
                                programs_);
  const Interruption interruption;  // before there is a model there is nothing to answer
  if (!input.evidence_file.empty() && evidence_.empty()) {
    note(options_.is_quiet, fmt::format("using the evidence in {}", input.evidence_file));
  }
  // A network knows the numbers of variables and states that it was trained for.
  const bool is_simplified = options_.prior.rfind("net:", 0) != 0 && !is_kept_whole_;
  if (is_simplified) simplify_input(input, time_box(options_, kSimplifyShare, HUGE_VAL));
  options_.log_error = input.simplified.log_error;
  const FactorGraph& graph = input.model.graph;
  check_argument(options_.unit != "cost" || !graph.has_only_tables(), "--budget-unit",
                 "cost counts seconds of factors that are computed by programs, and the model has none");
  check_argument(options_.unit != "call" || !graph.has_only_tables(),
                 line_->is_given("--calls") ? "--calls" : "--budget-unit",
                 "calls are evaluations of factors that are computed by programs, and the model has none");
  check_argument(options_.confidence > 0.0 && options_.confidence < 1.0, "--confidence",
                 fmt::format("is {}, allowed are numbers between 0 and 1, without them", options_.confidence));
  check_prior(options_.prior);
  choose_together(options_, *line_);
  options_.sums_out = is_simplified && options_.method != "exact";
  was_auto_ = options_.method == "auto";
  if (was_auto_ || options_.method == "treesample") choose_method(options_, *line_, graph);
  const bool ends_at_gap = options_.gap > 0.0 && has_upper_bound(options_, graph);
  note_ignored_options(options_, *line_, graph);
  const bool has_other_limit = options_.time > 0.0 || ends_at_gap;
  // Particle filters choose their number of particles by the budget.
  const bool has_particles = options_.method == "sis" || options_.method == "smc";
  const bool has_budget = line_->is_given("--budget") || line_->is_given("--calls");
  if (has_other_limit && !has_particles && !has_budget) options_.budget = INT64_MAX;
  // A budget that nobody named is no reason to draw nothing where a single sample costs more.
  if (!has_budget) options_.min_samples = std::clamp<std::int64_t>(options_.num_samples, 1, kLeastDrawn);
  if (input.oracles) set_oracle_defaults(options_, *line_, has_other_limit);
  const std::int64_t budget = options_.budget;
  if (input.oracles) pay_importance(options_, graph);
  clock_.emplace();
  Answer answer = answer_of(graph);
  answer.seconds = clock_->seconds();
  answer.widen(options_.log_error);
  clock_.reset();
  const bool is_over_budget = answer.stop == to_string(StopReason::kBudget);
  const bool has_bought = answer.spent.reward_evaluations > 0 && (!input.oracles || answer.spent.calls > 0);
  if (options_.method == "treesample" && is_over_budget && !has_bought) {
    note(options_.is_quiet, fmt::format("--budget {} ({}) buys {}: the first step of the search costs more",
                                        options_.budget, options_.unit, input.oracles ? "no call" : "nothing"));
  }
  add_samples(answer, input);
  options_.budget = budget;
  judge_importance(answer);
  if (input.oracles) judge_program_answer(answer);
  // A wait for a program ends as interrupted when the time is over; and what ended by itself may have been cut later.
  if (Interruption::is_asked() && !answer.is_exact) answer.stop = to_string(StopReason::kInterrupted);
  if (!Interruption::is_asked() && answer.stop == to_string(StopReason::kInterrupted)) {
    answer.stop = to_string(StopReason::kTime);
  }
  answer.options = resolved_options(input);
  if (input.oracles) finish_programs(*input.oracles, answer);
  // Without one value of a program there is no answer so far.
  const bool has_value = std::any_of(answer.oracle_counts.begin(), answer.oracle_counts.end(),
                                     [](const OracleCounts& counts) { return counts.paid + counts.from_journal > 0; });
  if (answer.error && input.oracles && !has_value) throw Error(*answer.error);
  // Something that the model declares is wrong: nothing that was made of it is an answer.
  if (answer.error && answer.error->code() == ErrorCode::kArgument) {
    throw Error(ErrorCode::kNumeric, answer.error->what());
  }
  // Files first: standard output may be a pipe that nobody reads any more.
  if (!json_.empty()) write_json(answer, input, model_, json_);
  if (!uai_out_.empty()) write_uai_results(answer, input, uai_out_, options_.is_quiet);
  if (json_ != "-") print_summary(answer, input, model_);
  if (answer.error) throw Error(*answer.error);
  return 0;
}

// What workers have in hand is ended or recorded, so that the answer and the journal agree on what was paid.
void InferCommand::finish_programs(OracleSet& oracles, Answer& answer) {
  try {
    oracles.finish();
  } catch (const Error& error) {
    if (!answer.error) answer.error = error;
  }
  answer.oracle_counts = oracles.counts();
}

// Better now than after the work.
void InferCommand::check_outputs() const {
  if (!json_.empty() && json_ != "-") check_writable(json_);
  if (!options_.trace.empty()) check_writable(options_.trace);
  if (uai_out_.empty()) return;
  check_writable(uai_out_ + ".PR");
  check_writable(uai_out_ + ".MAR");
}

// Errors of the library name its functions; a user knows options.
Answer InferCommand::answer_of(const FactorGraph& graph) {
  try {
    return answer_within_time(graph);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInterrupted) return first_answer(graph, options_);
    const std::string text = error.what();
    if (text.rfind("--", 0) == 0) throw;
    // A network's file that is too large is no matter of --memory.
    if (options_.prior.rfind("net:", 0) == 0 && text.rfind(options_.prior.substr(4), 0) == 0) throw;
    const std::string reason = text.substr(text.find(": ") == std::string::npos ? 0 : text.find(": ") + 2);
    if (error.code() == ErrorCode::kResource) {
      const bool is_quarter = reason.rfind("mini-buckets", 0) == 0 && options_.prior == "mini-bucket";
      throw Error(error.code(), fmt::format("--memory: {} is not enough: {}{}", options_.memory, reason,
                                            is_quarter ? ", a quarter of it (--prior uniform does without)" : ""));
    }
    if (error.code() == ErrorCode::kArgument && reason.rfind("the budget is", 0) == 0) {
      throw Error(error.code(), fmt::format("--budget: {}", reason));
    }
    throw;
  }
}

// Elimination that was chosen by an estimate and takes too long makes way for the search.
Answer InferCommand::answer_within_time(const FactorGraph& graph) {
  if (options_.method != "exact") return run_method(graph, options_);
  std::optional<Answer> exact = eliminate(graph, options_);
  if (exact) return *std::move(exact);
  if (Interruption::is_asked()) return first_answer(graph, options_);
  if (!was_auto_) {
    throw Error(ErrorCode::kResource,
                fmt::format("--time: {} seconds are not enough for elimination; allowed are a longer time, none, or "
                            "--method auto, which then searches",
                            options_.time));
  }
  note(options_.is_quiet,
       fmt::format("elimination, given up after {:.1f} seconds, would take too long: a search with bounds takes over",
                   options_.clock.seconds()));
  choose_bounds(options_);
  options_.sums_out = !is_kept_whole_;
  return run_method(graph, options_);
}

// The methods look at the clock between evaluations only, and one of them may hang.
bool InferCommand::is_time_over() const { return clock_ && options_.seconds_left() <= 0.0; }

void InferCommand::add_samples(Answer& answer, const ModelInput& input) const {
  const FactorGraph& graph = input.model.graph;
  if (answer.log_z == kNegInf || !answer.approximation) {
    const bool has_some = answer.best && answer.best->log_density != kNegInf;
    note(options_.is_quiet || options_.num_samples == 0,
         fmt::format("no samples: {}",
                     has_some ? why_sampling_ended(false) : "no state of positive probability was found"));
    return;
  }
  if (answer.has_importance && options_.num_importance > 0) {
    Random random(static_cast<std::uint64_t>(options_.seed), "importance");
    const ShouldStop should_stop = time_limit(options_, options_.num_samples > 0 ? kImportanceEnd : 1.0);
    answer.importance = importance_estimate(graph, *answer.approximation, static_cast<int>(options_.num_importance),
                                            random, [&](int) { return !should_stop(); });
    if (answer.importance->error) answer.error = answer.importance->error;
    const Configuration& sampled = answer.importance->best;
    if (answer.upper && !sampled.x.empty()) check_below_upper(sampled.log_density, *answer.upper);
    if (sampled.log_density != kNegInf && (!answer.best || sampled.log_density > answer.best->log_density)) {
      answer.best = sampled;
    }
  }
  Random random(static_cast<std::uint64_t>(options_.seed), "samples");
  if (options_.num_samples == 0) return;
  if (answer.exact_sampler) {
    add_exact_samples(answer, input, random);
    return;
  }
  draw_within_time(answer, input, [&](std::int64_t count, const std::function<bool()>& should_stop) {
    for (; count > 0 && (answer.samples.empty() || !should_stop()); --count) {
      answer.samples.push_back(answer.approximation->sample(random));
    }
  });
  if (std::ssize(answer.samples) < options_.num_samples) {
    note(options_.is_quiet,
         fmt::format("{} of {} samples: {}", answer.samples.size(), options_.num_samples, why_sampling_ended(false)));
  }
}

// In chunks that double: after each it is known what showing a sample takes, and --time leaves room for that. A short
// trial can be interrupted for as long again, so it counts processor time; drawing tells how much of that one gets.
void InferCommand::draw_within_time(Answer& answer, const ModelInput& input, const DrawChunk& draw) const {
  const std::vector<Assignment>& samples = answer.samples;
  const Stopwatch watch;
  const std::clock_t start = std::clock();
  double each = 0.0;  // seconds to show one
  const auto should_stop = [&] {
    return Interruption::is_asked() || options_.seconds_left() <= each * static_cast<double>(samples.size() + 1);
  };
  for (std::int64_t chunk = 1; std::ssize(samples) < options_.num_samples; chunk *= 2) {
    const std::int64_t count = std::min(chunk, options_.num_samples - std::ssize(samples));
    const std::int64_t wanted = std::ssize(samples) + count;
    draw(count, should_stop);
    if (std::ssize(samples) < wanted) return;
    if (options_.time <= 0.0) continue;
    const double busy = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    const double slowness = std::max(1.0, watch.seconds() / std::max(busy, 1e-3));
    const double seconds = seconds_to_show_samples(answer, input, json_ != "-", !json_.empty());
    each = slowness * seconds / static_cast<double>(samples.size());
  }
}

const char* InferCommand::why_sampling_ended(bool is_out_of_tries) const {
  if (Interruption::is_asked()) return "interrupted";
  return is_out_of_tries ? "the limit of tries (--max-tries)" : "the time limit (--time) is over";
}

// By rejection; says beforehand what it will take.
void InferCommand::add_exact_samples(Answer& answer, const ModelInput& input, Random& random) const {
  const double log_tries = answer.exact_sampler->log_value() - answer.log_z.value_or(kNegInf);
  const double expected = std::exp(log_tries) * static_cast<double>(options_.num_samples);
  note(options_.is_quiet, fmt::format("exact samples by rejection: about {:.3g} tries expected, at most {} allowed",
                                      expected, options_.max_tries));
  const SummedModel* const summed = answer.summed.get();
  const FactorGraph& graph = summed != nullptr ? summed->graph() : input.model.graph;
  std::int64_t num_tries = 0;
  draw_within_time(answer, input, [&](std::int64_t count, const std::function<bool()>& should_stop) {
    const RejectionOptions rejection{
        .num_samples = count, .max_tries = options_.max_tries - num_tries, .should_stop = should_stop};
    RejectionSamples drawn = rejection_samples(graph, *answer.exact_sampler, rejection, random);
    num_tries += drawn.num_tries;
    for (Assignment& x : drawn.samples) {
      if (summed != nullptr) {
        x = summed->spread(x);
        summed->draw(x, random);
      }
      answer.samples.push_back(std::move(x));
    }
  });
  const bool is_done = std::ssize(answer.samples) == options_.num_samples;
  note(options_.is_quiet,
       fmt::format("{} of {} exact samples after {} tries{}", answer.samples.size(), options_.num_samples, num_tries,
                   is_done ? "" : fmt::format(": {}", why_sampling_ended(num_tries >= options_.max_tries))));
}

std::vector<std::pair<std::string, std::string>> InferCommand::resolved_options(const ModelInput& input) const {
  const auto text = [](const auto& value) { return fmt::format("{}", value); };
  return {{"method", options_.method},
          {"space", options_.space},
          {"order", options_.order},
          {"prior", options_.prior},
          {"restarts", text(options_.restarts)},
          {"budget", text(options_.budget)},
          {"budget_unit", options_.unit},
          {"time", text(options_.time)},
          {"memory", options_.memory},
          {"select", options_.select},
          {"gap", text(options_.gap)},
          {"confidence", text(options_.confidence)},
          {"sampler", options_.sampler},
          {"max_tries", text(options_.max_tries)},
          {"c", text(options_.c)},
          {"epsilon", text(options_.epsilon)},
          {"ties", options_.ties},
          {"ess_threshold", text(options_.ess_threshold)},
          {"resampling", options_.resampling},
          {"sweeps", text(options_.num_sweeps)},
          {"gibbs_mode", options_.gibbs_mode},
          {"burn_in", text(options_.burn_in)},
          {"messages", text(options_.num_messages)},
          {"damping", text(options_.damping)},
          {"seed", text(options_.seed)},
          {"samples", text(options_.num_samples)},
          {"importance", text(options_.num_importance)},
          {"simplify", is_kept_whole_ ? "no" : "yes"},
          {"journal", journal_},
          {"oracle_workers", text(options_.oracle_workers)},
          {"oracle_order", options_.oracle_order},
          {"evidence", input.evidence_file}};
}

}  // namespace

std::unique_ptr<Command> make_infer_command() { return std::make_unique<InferCommand>(); }

}  // namespace treesample::cli
