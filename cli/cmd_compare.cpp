// treesample compare: methods side by side over budgets on the user's own model.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "command.hpp"
#include "experiments/compare.hpp"
#include "experiments/provenance.hpp"
#include "experiments/trace.hpp"
#include "file_roles.hpp"
#include "model_input.hpp"
#include "report_page.hpp"
#include "run_display.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/surrogate/learned_search.hpp"
#include "treesample/text.hpp"
#include "unwritten.hpp"

namespace treesample::cli {
namespace {

using experiments::MethodSetting;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

// Parses "100,1e4": whole numbers from 0 up; the result is sorted.
std::vector<std::int64_t> parse_budgets(const char* option, const std::string& text) {
  std::vector<std::int64_t> budgets;
  for (const std::string& word : split(text)) {
    constexpr std::int64_t kMost = 1'000'000'000'000'000;
    const std::optional<std::int64_t> value = parse_integer(word);
    if (!value || *value < 0 || *value > kMost) {
      throw_argument(option, fmt::format("'{}' is not a whole number from 0 to 1e15, such as 10000 or 1e4", word));
    }
    budgets.push_back(*value);
  }
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  check_argument(!budgets.empty(), option, "there is none");
  return budgets;
}

// Options that methods share with `infer`.
constexpr const char* kShared[] = {"order", "c", "ties", "ess-threshold", "resampling", "sweeps", "messages"};

// FNV-1a over the model and the evidence: if they change, old results must not be mixed with new ones.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

class CompareCommand final : public Command {
 public:
  std::string name() const override { return "compare"; }
  std::string summary() const override { return "Methods side by side over budgets on a model: table and figure"; }
  std::string examples() const override {
    return "  treesample compare model.uai\n"
           "  treesample compare model.uai --methods andor,tree,smc --budgets 1e3,1e4,1e5 --out comparison\n"
           "  treesample compare model.uai --methods smc --ess-threshold 0.75 --runs 20\n"
           "  treesample compare model.json --calls 100,300 --journal run.journal --reference-calls 2000\n"
           "  treesample compare model.json --calls 100,300,1000 --question best --journal run.journal\n"
           "  treesample compare --trace maxima=a.csv --trace mini-bucket=b.csv --out traces";
  }
  CompareCommand() {
    request_.options = {.order = OrderKind::kGiven,
                        .c = 1.0,
                        .ties = TieRule::kLowest,
                        .ess_threshold = 0.5,
                        .resampling = ResamplingScheme::kSystematic,
                        .sweeps = 10,
                        .messages = 5};
  }
  void declare(CommandLine& line) override;
  int run() override;

 private:
  std::vector<MethodSetting> settings(const std::string& words) const;
  int compare_traces() const;
  int show(experiments::Report report) const;

  [[nodiscard]] OracleOptions oracle_options() const;
  void announce_calls(const FactorGraph& graph, const experiments::CompareOptions& options) const;

  std::string model_, out_, html_, journal_;
  std::vector<std::string> evidence_;
  std::string calls_;
  std::string methods_, budgets_ = "100,1000,10000,100000";
  InferRequest request_;  // the options that the methods have in common with `infer`
  std::int64_t num_runs_ = 5, seed_ = 0, num_threads_ = 0;
  std::int64_t reference_calls_ = experiments::CompareOptions{}.reference_calls;
  bool is_quiet_ = false;
  ProgramUse programs_;
  std::vector<std::string> traces_;
};

void CompareCommand::declare(CommandLine& line) {
  line.optional_positional("MODEL", model_,
                           "Model file (.uai, .bif, .xmlbif, .xdsl, .net, .dsc, .fg, .cnf, .wcsp, .cfn, .wcnf, .json); "
                           "none with --trace");
  declare_evidence(line, evidence_);
  line.option("--methods", methods_, "LIST",
              "Which of " + experiments::all_method_words() +
                  "; andor, graph and tree are the search, mass and those from learned on are for factors that are "
                  "functions. Default: those that the model and the question are for");
  const OptionInfo& question = infer_option("question");
  line.option(
      "--question", question.meta, option_text(request_, "question"),
      "all: P_X against the target; best: how good the best configuration is that each method finds, for models "
      "with programs",
      [this](const std::string& text) { set_option(request_, "question", text); });
  line.option("--budgets", budgets_, "LIST", "Reward evaluations; calls of programs where the model has some");
  line.option("--calls", calls_, "LIST", "The same for a model with programs: how many calls each method may make");
  line.option("--runs", num_runs_, 1, 1'000'000, "Runs with different seeds of the methods that are random");
  line.option("--seed", seed_, 0, INT64_MAX, "Seed of everything random");
  line.option("--out", out_, "DIR", "Also write CSV, figures and an HTML page to this folder, and resume from it");
  line.option("--html", html_, "FILE", "Write a page to look at: figures and tables that can be sorted");
  line.option("--trace", traces_, "[LABEL=]FILE",
              "Instead of running methods: show the bounds over time that 'infer --trace FILE' wrote; may be repeated");
  for (const char* const name : kShared) {
    const OptionInfo& option = infer_option(name);
    line.option("--" + option.name, option.meta, option_text(request_, name), option.help,
                [this, name](const std::string& text) { set_option(request_, name, text); });
  }
  line.option("--journal", journal_, "FILE",
              "Keep the values that programs computed, and pay only for new ones next time (.json models)");
  line.option("--reference-calls", reference_calls_, 0, INT64_MAX,
              "Calls of programs that log Z and the samples for the KL of searches may take, beyond the budgets; "
              "0: neither is estimated");
  line.option("--threads", num_threads_, 0, 4096,
              "Runs worked on at once; 0 is one per core. Runs of a model with programs are made one after the other");
  declare_consent(line, programs_);
  line.flag("--quiet", is_quiet_, "No progress and no remarks on standard error");
}

// The methods that are compared by default. A function of few variables can be searched; others are learned, or
// sampled in one of the ways that need nothing but its values.
std::string usual_methods(const FactorGraph& graph, const experiments::CompareOptions& options) {
  if (graph.has_only_tables()) return "andor,graph,tree,mass,smc,sis,gibbs,ais,bp";
  const bool is_learned = states_to_learn(graph, options.budgets.back()).has_value();
  if (!is_learned && options.aim == Aim::kAll) return "learned,mass,andor,graph,tree,smc,sis,gibbs,metropolis,remember";
  const std::string ways = "remember,tempering,annealing,cross-entropy,frequencies,random";
  return options.aim == Aim::kBest ? "learned,mass," + ways : "learned,mass,metropolis," + ways;
}

std::vector<MethodSetting> CompareCommand::settings(const std::string& words) const {
  std::vector<MethodSetting> settings;
  for (const std::string& word : split(words)) {
    MethodSetting setting(experiments::parse_method("--methods", word));
    for (const MethodSetting& other : settings) {
      check_argument(other.contender != setting.contender, "--methods", fmt::format("'{}' is listed twice", word));
    }
    setting.take(request_.options);
    settings.push_back(setting);
  }
  check_argument(!settings.empty(), "--methods", "there is none");
  return settings;
}

// The text before the last '=' is the label, unless it is part of a file's name.
int CompareCommand::compare_traces() const {
  std::vector<experiments::Trace> traces;
  for (const std::string& word : traces_) {
    const std::size_t equals = word.rfind('=');
    const bool has_label = equals != std::string::npos && !std::filesystem::exists(word);
    const std::string file = has_label ? word.substr(equals + 1) : word;
    const std::string label = has_label ? word.substr(0, equals) : std::filesystem::path(file).stem().string();
    traces.push_back(experiments::read_trace(printable(label), file));
  }
  if (!out_.empty()) make_folder(out_);
  return show(experiments::trace_report(traces));
}

// Writes files first: standard output may be a pipe that nobody reads any more.
int CompareCommand::show(experiments::Report report) const {
  for (auto& line : experiments::provenance()) report.options.push_back(std::move(line));
  Unwritten unwritten;
  unwritten.write(html_, [&] { write_file_atomically(html_, report_page(report)); });
  const int code = show_report(report, out_, is_quiet_);
  unwritten.rethrow();
  return code;
}

OracleOptions CompareCommand::oracle_options() const {
  return {.journal = journal_, .log = journal_.empty() ? "" : journal_ + ".log", .is_interrupted = [] {
            return Interruption::is_asked();
          }};
}

// Announces the largest possible cost before anything is paid for.
void CompareCommand::announce_calls(const FactorGraph& graph, const experiments::CompareOptions& options) const {
  const experiments::ReferencePlan plan = experiments::reference_plan(graph, options);
  if (options.aim == Aim::kBest) {
    note(is_quiet_, fmt::format("calls of programs: at most {} by the methods, one run after the other",
                                experiments::most_method_calls(options)));
    return;
  }
  note(is_quiet_, fmt::format("calls of programs: at most {} by the methods, one run after the other, and {} for the "
                              "comparison (--reference-calls): {} and {} for log Z, {} for the KL of each search ({}), "
                              "{} per sample",
                              experiments::most_method_calls(options), plan.calls(), plan.search_calls,
                              counted(plan.log_z_samples, "sample"), counted(plan.kl_samples, "sample"),
                              counted(plan.num_kl_runs, "run"), counted(plan.calls_each, "call")));
}

int CompareCommand::run() {
  check_argument(!model_.empty() || !traces_.empty(), "compare", "needs a MODEL to run methods on, or --trace FILE");
  check_argument(model_.empty() || traces_.empty(), "--trace",
                 fmt::format("goes without a MODEL, '{}' is given", model_));
  check_argument(html_ != "-", "--html", "'-' is no file; allowed is a name");
  std::vector<FileRole> kept = evidence_roles(model_, evidence_);
  for (FileRole& file : journal_roles("--journal", journal_)) kept.push_back(std::move(file));
  kept.push_back({"MODEL", model_});
  for (const std::string& trace : traces_) kept.push_back({"--trace", trace.substr(trace.rfind('=') + 1)});
  programs_.written = {{"--html", html_}};
  check_distinct(kept, programs_.written);
  if (!html_.empty()) check_writable(html_);
  if (!traces_.empty()) return compare_traces();
  experiments::CompareOptions options;
  options.aim = request_.question.aim;
  if (!methods_.empty()) options.settings = settings(methods_);
  options.budgets = calls_.empty() ? parse_budgets("--budgets", budgets_) : parse_budgets("--calls", calls_);
  options.num_runs = static_cast<int>(num_runs_);
  options.seed = static_cast<std::uint64_t>(seed_);
  options.model_name = printable(std::filesystem::path(model_).filename().string());
  options.reference_calls = reference_calls_;
  const OracleOptions calls = oracle_options();
  const ModelInput input = read_input(model_, input_options(model_, evidence_, programs_, calls));
  check_input(input, calls, is_quiet_);
  if (!input.evidence_file.empty() && evidence_.empty()) {
    note(is_quiet_, fmt::format("using the evidence in {}", input.evidence_file));
  }
  options.model_fingerprint = {{"model", hash_of(read_file(model_))}, {"evidence", hash_of(input.evidence_text())}};
  std::string shared;
  for (const char* const name : kShared) shared += fmt::format("{}={} ", name, option_text(request_, name));
  options.model_fingerprint.emplace_back("settings", shared);
  if (!out_.empty()) {
    make_folder(out_);
    options.run_file = std::filesystem::path(out_) / "run.sqlite";
  }
  const Interruption interruption;
  const ReducedModel model = input.conditioned();
  if (methods_.empty()) options.settings = settings(usual_methods(model.graph, options));
  check_argument(calls_.empty() || !model.graph.has_only_tables(), "--calls",
                 "the model has no programs to call; --budgets counts evaluations of its tables");
  const ProgramSet* const programs = input.model.programs.get();
  if (programs != nullptr) announce_calls(model.graph, options);
  Progress progress(is_quiet_);
  const auto report = experiments::compare(model.graph, options, run_control(progress, static_cast<int>(num_threads_)));
  if (!report) return report_interruption(progress, out_);
  progress.clear();
  const int code = show(*report);
  if (programs == nullptr) return code;
  for (const OracleCounts& counts : programs->counts()) {
    fmt::print("program     {}: {} evaluations paid, {} from the journal, {} asked again by another run\n", counts.name,
               counts.paid, counts.from_journal, counts.repeated);
  }
  return code;
}

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace treesample::cli
