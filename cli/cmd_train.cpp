// treesample train: learns a value function for `infer --leaf net:FILE`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <thread>

#include "command.hpp"
#include "model_input.hpp"
#include "redis_input.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/model/names.hpp"
#include "treesample/oracle/program_models.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"
#include "treesample/train/distributed.hpp"
#include "treesample/train/train.hpp"

namespace treesample::cli {
namespace {

std::vector<int> parse_widths(const std::string& text) {
  std::vector<int> widths;
  for (const std::string& word : split_names(text)) {
    const std::optional<std::int64_t> width = parse_integer(word);
    check_argument(width && *width > 0 && *width <= 4096 && *width % 16 == 0, "--hidden",
                   fmt::format("'{}' is not a list of multiples of 16 up to 4096, such as 256,256", text));
    widths.push_back(static_cast<int>(*width));
  }
  return widths;
}

std::vector<std::pair<std::string, std::string>> read_folder(const std::filesystem::path& folder) {
  std::vector<std::pair<std::string, std::string>> models;
  for (const std::filesystem::path& file : model_files(folder, "--models"))
    models.emplace_back(read_file(file), file.extension().string());
  return models;
}

class TrainCommand final : public Command {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "Learn a value function from inference on many problems"; }
  std::string examples() const override {
    return "  treesample train --out run                      a graph network on factor-graphs-2, as in the paper\n"
           "  treesample train --n 12 --test-n 20 --out run   train on small graphs, test on larger ones\n"
           "  treesample train --architecture mlp --single --out run\n"
           "  treesample train --model model.uai --out run    one model of your own\n"
           "  treesample train --model alarm.bif --evidence-variables HR,BP --out run    for new observations\n"
           "  treesample train --models folder --out run      models of your own, all of them in turn\n"
           "  treesample train --generator make_model.py --out run    models without end, from a program of your own\n"
           "  treesample train --resume --out run             go on after an interruption or a crash\n"
           "  treesample train --redis redis://host --run fg2 --out run     with `treesample worker` elsewhere\n"
           "  treesample infer new.uai --method tree --order given --leaf net:run/network.safetensors";
  }
  void declare(CommandLine& line) override;
  int run() override;

 private:
  void declare_problems(CommandLine& line);
  void take_options();
  void check_problems() const;

  CommandLine* line_ = nullptr;
  RedisInput redis_;
  TrainOptions options_;
  std::string model_, models_, generator_, evidence_variables_, out_ = "train";
  std::string hidden_ = "256,256,256,256";
  InferRequest order_;  // of the variables: the options that choose their order
  std::vector<std::string> settings_;
  std::int64_t seed_ = 0;
  int n_ = 0, num_workers_ = 0;
  bool is_quiet_ = false;
};

void TrainCommand::declare_problems(CommandLine& line) {
  line.choice("--family", options_.problems.family, family_names(), "Random problems to train on");
  line.word("--reading", options_.problems.reading, {{"letter", Reading::kLetter}, {"best", Reading::kBest}},
            "How the family reads the paper");
  line.option("--n", n_, 0, INT32_MAX, "Number of variables; 0 is the paper's");
  line.option("--set", settings_, "NAME=VALUE", "Any other field of the family; may be repeated");
  line.option("--model", model_, "FILE", "Train on this model instead of a family");
  line.option("--models", models_, "FOLDER", "Train on all models of this folder, in turn (graph networks)");
  line.option("--generator", generator_, "PROGRAM",
              "Train on what PROGRAM NUMBER prints, a model for each number (graph networks)");
  line.option("--evidence-variables", evidence_variables_, "NAMES",
              "With --model or --models: observe these, with commas, in states that the model itself draws, others in "
              "each episode (graph networks)");
  line.option("--order", infer_option("order").meta, to_string(order_.options.order.value_or(OrderKind::kGiven)),
              "Order of the variables", [this](const std::string& word) { set_option(order_, "order", word); });
  line.flag("--single", options_.problems.is_single_graph, "One problem of the family for all episodes");
  line.option("--test-n", options_.test_n, 0, INT32_MAX,
              "Measure on problems of this many variables; 0: on those of training");
}

void TrainCommand::declare(CommandLine& line) {
  line_ = &line;
  EpisodeOptions& episode = options_.episode;
  LearnerOptions& learner = options_.learner;
  line.option("--out", out_, "FOLDER", "Where checkpoint, network, progress.csv and the figure go");
  line.flag("--resume", options_.resume, "Resume from the checkpoint in the folder");
  declare_problems(line);
  line.choice("--architecture", learner.architecture, {"gnn", "mlp"}, "Kind of network; mlp needs one single problem");
  line.word("--method", episode.method, {{"tree", InferenceMethod::kTree}, {"smc", InferenceMethod::kSmc}},
            "Inference of the workers");
  line.word("--targets", episode.targets,
            {{"paper", TargetKind::kPaper}, {"exact", TargetKind::kExact}, {"bounds", TargetKind::kBounds}},
            "What is learned: values of the inference, exact ones where elimination solves the problem, or those "
            "within certified bounds");
  line.word(
      "--loss", learner.loss, {{"squared", Loss::kSquared}, {"policy", Loss::kPolicy}},
      "The loss that learning minimises: the squared error of Q, as in the paper, or the KL of softmax Q from that of "
      "the targets (docs/methods/networks.md)");
  line.option("--iterations", learner.iterations, 1, 64, "Iterations of a graph network");
  line.option("--bellman", learner.bellman_weight, 0.0, 1e6,
              "Weight of the squared Bellman residual along the samples, added to the loss; 0: none");
  line.option("--global-after", learner.global_after, 0, 63,
              "Give a graph network a value of the whole graph, read from all variables after this iteration; 0: none");
  line.option("--hidden", hidden_, "LIST", "Widths of a perceptron's layers, multiples of 16, with commas");
  line.option("--episodes", options_.num_episodes, 1, 1 << 30, "Episodes in all");
  line.option("--budget", episode.budget, 1, INT64_MAX, "Reward evaluations per episode");
  line.option("--samples", episode.num_samples, 1, 1 << 20, "Samples per episode whose Q-values are learned");
  line.option("--c", episode.c, 0.0, HUGE_VAL, "Weight of exploration");
  line.option("--epsilon", episode.epsilon, 0.0, HUGE_VAL, "Least scale of the exploration bonus");
  line.option("--ess", episode.ess_threshold, 0.0, 1.0, "SMC resamples below this share of effective particles");
  line.option("--replay", options_.replay_capacity, 1, 1 << 28, "Capacity of the replay, in Q-vectors");
  line.option("--batch", learner.batch_size, 1, 1 << 16, "Size of a minibatch");
  line.option("--rate", learner.adam.learning_rate, 0.0, 1.0, "Learning rate of Adam");
  line.flag("--deterministic", options_.is_deterministic, "One thread, fixed turns: the same seed gives the same bits");
  line.option("--steps-per-episode", options_.steps_per_episode, 0, 1 << 20,
              "Learner steps per episode when deterministic");
  line.option("--workers", num_workers_, 0, 1 << 10, "Worker threads; 0: one less than the machine has cores");
  line.option("--assess-every", options_.assess_every, 0, INT32_MAX, "Episodes between two measurements; 0: never");
  line.option("--plain-c", options_.plain_c, 0.0, HUGE_VAL,
              "Exploration of the search without network that is compared");
  line.option("--checkpoint-every", options_.checkpoint_every, 1, INT32_MAX, "Episodes between two checkpoints");
  line.option("--seed", seed_, 0, INT64_MAX, "Seed of everything");
  line.flag("--quiet", is_quiet_, "No progress on standard error");
  redis_.declare(line);
}

// Takes the options that the parser does not store directly where they belong.
void TrainCommand::take_options() {
  ProblemOptions& problems = options_.problems;
  problems.order = order_.options.order.value_or(OrderKind::kGiven);
  if (n_ > 0) problems.values["n"] = n_;
  add_fields(problems.values, settings_);
  if (!model_.empty()) {
    problems.model_text = read_file(model_);
    problems.model_format = std::filesystem::path(model_).extension().string();
  }
  if (!models_.empty()) problems.models = read_folder(models_);
  if (!generator_.empty()) {
    problems.generator = program_models(generator_);
    problems.generator_name = generator_;
  }
  if (!evidence_variables_.empty()) problems.evidence_variables = split_names(evidence_variables_);
  options_.learner.hidden = parse_widths(hidden_);
  const int num_cores = static_cast<int>(std::thread::hardware_concurrency());
  options_.num_workers = num_workers_ > 0 ? num_workers_ : std::max(1, num_cores - 1);
  options_.seed = static_cast<std::uint64_t>(seed_);
  options_.folder = out_;
}

// The mean of delta_kl - delta_kl_plain over the last episodes, because a single one scatters too much.
class RecentGain {
 public:
  void add(const std::optional<double>& value, const std::optional<double>& plain) {
    if (value && plain) gains_.push_back(*value - *plain);
    if (gains_.size() > 100) gains_.pop_front();
  }
  [[nodiscard]] std::string text() const {
    if (gains_.empty()) return "-";
    double sum = 0.0;
    for (const double gain : gains_) sum += gain;
    return fmt::format("{:+.3f}", sum / static_cast<double>(gains_.size()));
  }

 private:
  std::deque<double> gains_;
};

void print_rejected(const TrainReport& report) {
  if (report.num_rejected == 0) return;
  fmt::print("{} episodes were refused and left out\n", report.num_rejected);
  constexpr int kMostShown = 10;
  int num_shown = 0;
  for (const auto& [worker, count] : report.rejected_by_worker) {
    if (++num_shown <= kMostShown) fmt::print("  {} from {}\n", count, worker);
  }
  if (num_shown > kMostShown) fmt::print("  and others from {} more\n", num_shown - kMostShown);
  if (!report.last_rejection.empty()) fmt::print("  the last from {}\n", report.last_rejection);
}

// Checks these here so that messages name options; the library would name its own fields.
void TrainCommand::check_problems() const {
  const ProblemOptions& problems = options_.problems;
  const bool is_graph_network = options_.learner.architecture == "gnn";
  check_argument(is_graph_network || problems.is_single(), "--architecture",
                 "mlp cannot tell problems apart: it needs one (--single, or --model FILE)");
  check_argument(evidence_variables_.empty() || !model_.empty() || !models_.empty(), "--evidence-variables",
                 "are those of models (--model FILE or --models FOLDER)");
  check_argument(options_.test_n == 0 || is_graph_network, "--test-n", "mlp has a fixed number of variables");
  check_argument(options_.test_n == 0 || !problems.has_models(), "--test-n", "needs a family, not models");
}

int TrainCommand::run() {
  take_options();
  check_problems();
  options_.validate();
  check_argument(options_.resume || !std::filesystem::exists(options_.folder / "checkpoint.safetensors"), "--out",
                 fmt::format("'{}' holds a run already; resume it (--resume) or name another folder", out_));
  check_argument(!options_.resume || std::filesystem::exists(options_.folder / "checkpoint.safetensors"), "--resume",
                 fmt::format("'{}' holds no run to go on with (no checkpoint.safetensors); start one without --resume, "
                             "or is --out another folder?",
                             out_));
  const Interruption interruption;
  Progress progress(is_quiet_);
  RecentGain with_search;
  RecentGain alone;
  RecentGain telescoped;
  RecentGain residual;
  const TrainObserver observe = [&](const EpisodeRecord& record) {
    with_search.add(record.measured.delta_kl, record.measured.delta_kl_plain);
    alone.add(record.measured.delta_kl_phi, record.measured.delta_kl_plain);
    telescoped.add(record.measured.delta_kl_telescoped, record.measured.delta_kl_plain);
    residual.add(record.measured.bellman_residual, 0.0);
    progress.show(static_cast<double>(record.episode) / static_cast<double>(options_.num_episodes),
                  fmt::format("episode {}, step {}, loss {}, delta-KL relative to no network: {}, network alone {}, "
                              "telescoped {}, Bellman residual {}",
                              record.episode, record.steps, record.loss ? fmt::format("{:.3g}", *record.loss) : "-",
                              with_search.text(), alone.text(), telescoped.text(), residual.text()));
    return !Interruption::is_asked();
  };
  const RunCallbacks callbacks = {.keep_going = [] { return !Interruption::is_asked(); },
                                  .remark =
                                      [&](const std::string& text) {
                                        progress.clear();
                                        note(is_quiet_, text);
                                      }};
  const TrainReport report = line_->is_given("--redis")
                                 ? train_distributed(options_, redis_.options(), observe, callbacks)
                                 : train(options_, observe);
  progress.clear();
  if (!report.network) {
    fmt::print("interrupted before the run began\n");
    return 0;
  }
  fmt::print("{}, {}{}\n", counted(report.num_episodes, "episode"), counted(report.num_steps, "learner step"),
             report.is_finished ? "" : "; interrupted, go on with --resume");
  print_rejected(report);
  fmt::print(
      "delta-KL relative to TreeSample without a network, mean of the last episodes: {} with search, {} alone, "
      "{} with search and telescoped values\nBellman residual of the network, mean of the last episodes: {}\n",
      with_search.text(), alone.text(), telescoped.text(), residual.text());
  fmt::print("network   {}\nprogress  {}{}\n", printable((options_.folder / "network.safetensors").string()),
             printable((options_.folder / "progress.csv").string()),
             report.has_figure ? ", progress.svg, progress.png" : "");
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace treesample::cli
