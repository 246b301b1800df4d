// treesample infer: one model, one method, one answer. All decisions about inference are made in the library.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "answer.hpp"
#include "answer_cases.hpp"
#include "answer_tables.hpp"
#include "command.hpp"
#include "file_roles.hpp"
#include "infer_display.hpp"
#include "memory_limit.hpp"
#include "reading_watch.hpp"
#include "redis_input.hpp"
#include "terminal.hpp"
#include "trace_file.hpp"
#include "treesample/error.hpp"
#include "treesample/formula/nnf.hpp"
#include "treesample/infer/option_groups.hpp"
#include "treesample/io/file.hpp"
#include "treesample/model/names.hpp"
#include "treesample/page/answer_page.hpp"
#include "treesample/text.hpp"
#include "uai_output.hpp"
#include "unwritten.hpp"

namespace treesample::cli {
namespace {

struct Held {
  ModelInput input;
  Answer answer;
};

// Destroys everything that has programs, as factors or as a value function; their child processes, the journal and the
// lease end with them. Everything else lives until the program ends, which is quicker (program_end.hpp).
class ProgramsAreLeft {
 public:
  explicit ProgramsAreLeft(std::unique_ptr<Held>& held) : held_(held) {}
  ~ProgramsAreLeft() {
    const bool has_value_function = static_cast<bool>(held_->answer.plan.request.options.value_function);
    if (held_->input.model.programs || has_value_function) held_.reset();
  }
  ProgramsAreLeft(const ProgramsAreLeft&) = delete;
  ProgramsAreLeft& operator=(const ProgramsAreLeft&) = delete;

 private:
  std::unique_ptr<Held>& held_;
};

class InferCommand final : public Command {
 public:
  std::string name() const override { return "infer"; }
  std::string summary() const override { return "log Z, marginals, samples and the best configuration of a model"; }
  std::string examples() const override {
    return "  treesample infer model.uai\n"
           "  treesample infer model.uai --time 20 --samples 10 --json answer.json\n"
           "  treesample infer model.uai --explain                              what would be done, and why\n"
           "  treesample infer model.uai --method tree --order given --c 0.5    the paper's tree search\n"
           "  treesample infer model.uai --method smc --order given --budget 10000\n"
           "  treesample infer network.bif --evidence xray=yes --evidence dysp=no --query lung --query lung,tub\n"
           "  treesample infer network.bif --do treatment=yes --query recovery\n"
           "  treesample infer network.bif --cases patients.csv --query lung --cases-out answers.csv\n"
           "  treesample infer model.uai --compile model.circuit                compiled once ...\n"
           "  treesample infer model.circuit --evidence other.evid --weights w.uai   ... answered again at once\n"
           "  treesample infer model.json --calls 500 --journal run.journal --oracle-workers 4\n"
           "  treesample infer model.json --calls 500 --journal run.journal --redis redis://host --run pumps   with "
           "`worker`s";
  }
  void declare(CommandLine& line) override;
  int run() override;

 private:
  void declare_table(CommandLine& line);
  void check_request();
  [[nodiscard]] std::vector<FileRole> checked_outputs() const;
  [[nodiscard]] OracleOptions oracle_options();
  ModelInput read();
  void leave_time(double seconds_used, const FactorGraph& graph);
  static void finish_programs(const Model& model, Answer& answer);
  void show(const Answer& answer, const ModelInput& input, const std::vector<TracePoint>& trace,
            Unwritten& unwritten) const;

  std::unique_ptr<Held> held_;
  InferRequest request_;
  std::map<std::string, std::vector<std::string>> repeated_;  // options of the table that may be given several times
  std::map<std::string, bool> flags_;                         // options of the table that are yes or no
  std::vector<std::string> evidence_, done_;
  std::string model_, weights_, json_, html_, journal_, uai_out_, trace_, compile_, cases_, cases_out_, marginals_out_,
      samples_out_;
  bool is_kept_whole_ = false, is_retrying_failed_ = false, is_explained_ = false, is_quiet_ = false,
       is_going_on_ = false;
  ProgramUse programs_;
  CommandLine* line_ = nullptr;
  RedisInput redis_;
  double lease_ = 10.0;
};

// The default as people write it.
std::string shown_default(const OptionInfo& option) {
  if (option.initial == "inf" || option.initial == fmt::format("{}", Limits::kUnlimited)) return "no limit";
  if (option.name == "memory") return fmt::format("{}M", Limits().bytes >> 20);
  return option.initial;
}

// The options of `infer` itself, from its table.
void InferCommand::declare_table(CommandLine& line) {
  for (const OptionInfo& option : infer_options()) {
    const std::string flag = "--" + option.name;
    line.section(option_group(option.name), option.is_common);
    if (!option.old_name.empty()) {
      line.old_option("--" + option.old_name,
                      [this, name = option.old_name](const std::string& text) { set_option(request_, name, text); });
    }
    if (option.name == "trace") {
      line.option(flag, "FILE", "", option.help, [this](const std::string& file) {
        trace_ = file;
        set_option(request_, "trace", "yes");
      });
    } else if (option.name == "compile") {
      line.option(flag, "FILE", "", option.help, [this](const std::string& file) {
        compile_ = file;
        set_option(request_, "compile", "yes");
      });
    } else if (option.name == "simplify") {
      line.flag("--no-simplify", is_kept_whole_, "Keep states that are impossible and factors that are constant");
    } else if (option.name == "method") {
      line.option(flag, "auto|" + option.meta, "auto", option.help, [this](const std::string& word) {
        request_.options.method.reset();
        if (word != "auto") set_option(request_, "method", word);
      });
    } else if (option.meta == "yes|no") {
      line.flag(flag, flags_[option.name], option.help);
    } else if (option.is_repeated) {
      line.option(flag, repeated_[option.name], option.meta, option.help);
    } else {
      line.option(flag, option.meta, shown_default(option), option.help,
                  [this, name = option.name](const std::string& text) { set_option(request_, name, text); });
    }
  }
}

void InferCommand::declare(CommandLine& line) {
  line.positional("MODEL", model_,
                  "Model file (.uai, .bif, .xmlbif, .xdsl, .net, .dsc, .fg, .cnf, .wcsp, .cfn, .wcnf, .json), "
                  "or .circuit (--compile)");
  line.section("What was observed");
  declare_evidence(line, evidence_);
  line.option(
      "--do", done_, "NAME=STATE",
      "Set a variable of a Bayesian network instead of observing it: its causes no longer matter; may be repeated");
  line.option("--cases", cases_, "FILE",
              "Many cases of evidence, one per row or object (.csv, .json); the answer is a table");
  line.section("What was observed", false);
  line.option("--weights", weights_, "FILE",
              "Model file with tables over single variables, by which MODEL is multiplied");
  declare_table(line);
  line.section("Programs as factors (.json models)", false);
  line.option(
      "--journal", journal_, "FILE",
      "Keep the values that programs computed, and reuse them next time (.json models; FILE.log has their stderr)");
  line.flag("--retry-failed", is_retrying_failed_,
            "Repeat evaluations that the journal has recorded as failed (.json models, on_failure)");
  declare_consent(line, programs_);
  line_ = &line;
  line.section("Programs on other machines (.json models)", false);
  redis_.declare(line);
  line.option("--lease", lease_, 0.1, 1e6,
              "Give a worker's question to another after this many seconds without a sign of life");
  line.section("Output");
  line.flag("--explain", is_explained_, "Show what would be done and why, without doing it");
  line.option("--json", json_, "FILE", "Write everything as JSON; - is standard output, without the summary");
  line.option("--html", html_, "FILE",
              "Write a page to look at: marginals, graph, bounds over time, the explored tree; - is standard output, "
              "without the summary");
  line.option("--marginals-out", marginals_out_, "FILE", "Write the marginals, or what --query asks for, as CSV");
  line.option("--samples-out", samples_out_, "FILE", "Write the samples as CSV, states by name");
  line.option("--cases-out", cases_out_, "FILE", "Where the table of --cases goes, as CSV; default is standard output");
  line.flag("--cases-go-on", is_going_on_,
            "Keep the rows that an interrupted run has left in --cases-out's FILE, or in FILE.partial, and answer the "
            "cases after them");
  line.option("--uai-out", uai_out_, "FILE",
              "Write FILE.PR (log10 Z), FILE.MAR (marginals), FILE.MAP (most probable configuration) and, with --map, "
              "FILE.MMAP as the UAI competitions do");
  line.flag("--quiet", is_quiet_, "No progress and no remarks on standard error");
}

// Checks conditions that the table cannot express: options of the program that exclude each other.
void InferCommand::check_request() {
  for (const auto& [name, texts] : repeated_) {
    for (const std::string& text : texts) set_option(request_, name, text);
  }
  for (const auto& [name, is_given] : flags_) {
    if (is_given) set_option(request_, name, "yes");
  }
  if (is_kept_whole_) set_option(request_, "simplify", "no");
  check_argument(samples_out_.empty() || request_.question.samples > 0, "--samples-out",
                 "no samples are drawn (--samples)");
  check_argument(cases_out_.empty() || !cases_.empty(), "--cases-out", "there are no cases (--cases FILE)");
  check_argument(!is_going_on_ || !cases_out_.empty(), "--cases-go-on",
                 "needs the file of the rows (--cases-out FILE)");
  if (cases_.empty()) return;
  const std::pair<const char*, bool> of_one_answer[] = {{"--json", !json_.empty()},
                                                        {"--html", !html_.empty()},
                                                        {"--uai-out", !uai_out_.empty()},
                                                        {"--marginals-out", !marginals_out_.empty()},
                                                        {"--samples-out", !samples_out_.empty()},
                                                        {"--explain", is_explained_}};
  for (const auto& [option, is_given] : of_one_answer) {
    check_argument(!is_given, option, "is for one answer, and --cases gives many");
  }
  request_.validate_for_cases();
}

// Returns the files that will be written, and fails now, rather than after the work, if one of them cannot be.
std::vector<FileRole> InferCommand::checked_outputs() const {
  check_argument(json_ != "-" || html_ != "-", "--html", "standard output is taken by --json");
  std::vector<FileRole> written = {{"--trace", trace_},
                                   {"--compile", compile_},
                                   {"--cases-out", cases_out_},
                                   {"--marginals-out", marginals_out_},
                                   {"--samples-out", samples_out_},
                                   {"--uai-out", uai_out_}};
  for (const auto& [option, file] : written) {
    check_argument(file != "-", option, "'-' is no file; standard output is for --json and --html");
  }
  written.pop_back();
  for (const char* const extension : {".PR", ".MAR", ".MAP", ".MMAP"}) {
    const bool is_made = std::string_view(extension) != ".MMAP" || !request_.question.map.empty();
    if (!uai_out_.empty() && is_made) written.push_back({"--uai-out", uai_out_ + extension});
  }
  written.push_back({"--json", json_});
  written.push_back({"--html", html_});
  std::vector<FileRole> kept = evidence_roles(model_, evidence_);
  for (FileRole& file : journal_roles("--journal", journal_)) kept.push_back(std::move(file));
  kept.push_back({"MODEL", model_});
  for (const std::string& name : request_.question.map) {
    if (name.ends_with(".query")) kept.push_back({"--map", name});
  }
  kept.push_back({"--weights", weights_});
  kept.push_back({"--cases", cases_});
  kept.push_back({"--resume", request_.options.resume.value_or("")});
  kept.push_back({"--order-file", request_.options.order_file.value_or("")});
  if (request_.options.leaf) kept.push_back({"--leaf", request_.options.leaf->path});
  check_distinct(kept, written);
  for (const FileRole& file : written) {
    if (!file.path.empty() && file.path != "-") check_writable(file.path);
  }
  return written;
}

OracleOptions InferCommand::oracle_options() {
  constexpr int kQuestionsUnderWay = 16;  // workers may join at any time, so their number is not known
  OracleOptions options{.journal = is_explained_ ? "" : journal_,
                        .log = journal_.empty() || is_explained_ ? "" : journal_ + ".log",
                        .retry_failed = is_retrying_failed_,
                        .question_lease_seconds = lease_,
                        .remark = [this](const std::string& text) { note(is_quiet_, text); }};
  for (const char* const option : {"--run", "--password-file", "--key-file", "--insecure", "--tls-ca", "--tls-cert",
                                   "--tls-key", "--patience", "--lease"}) {
    check_argument(line_->is_given("--redis") || !line_->is_given(option), option,
                   "is for workers on other machines (--redis ADDRESS)");
  }
  if (line_->is_given("--redis") && !is_explained_) {
    if (!request_.options.workers) set_option(request_, "oracle-workers", fmt::format("{}", kQuestionsUnderWay));
    options.redis = redis_.options();
    const double seconds = request_.limits.seconds;
    if (seconds > 0.0) options.redis->patience_seconds = std::min(options.redis->patience_seconds, seconds);
  }
  options.num_workers = static_cast<int>(request_.options.workers.value_or(1));
  return options;
}

ModelInput InferCommand::read() {
  ProgramUse use = programs_;
  use.is_quiet = is_quiet_;
  const OracleOptions options = oracle_options();
  use.runs_them = !is_explained_ && !options.redis;
  // Reading counts as part of the user's time.
  const double end = request_.limits.seconds > 0.0 ? request_.limits.seconds : HUGE_VAL;
  const UnpackLimits unpack = unpack_limits(request_.limits.bytes, [end] { return process_seconds() > end; });
  InputOptions from = input_options(model_, evidence_, use, options, unpack);
  from.weights_file = weights_;
  auto watch = std::make_unique<const ReadingWatch>(std::vector{model_, weights_}, request_.limits.seconds);
  ModelInput input = read_input(model_, from);
  watch.reset();
  check_input(input, options, is_quiet_);
  if (!done_.empty()) intervene(input.model, done_);
  if (!input.evidence_file.empty() && evidence_.empty()) {
    note(is_quiet_, fmt::format("using the evidence in {}", input.evidence_file));
  }
  return input;
}

// The user's time includes reading the model and writing the answer. If it is already over, only the first bounds are
// computed.
void InferCommand::leave_time(double seconds_used, const FactorGraph& graph) {
  constexpr double kLeastSeconds = 1e-3, kSecondsPerState = 0.4e-6;  // in a file with names
  double num_states = 0.0;
  for (int v = 0; v < graph.num_variables(); ++v) num_states += graph.num_states(v);
  if (!json_.empty() || !html_.empty()) seconds_used += kSecondsPerState * num_states;
  double& seconds = request_.limits.seconds;
  if (seconds < kNoTimeLimit) seconds = std::max(seconds - seconds_used, kLeastSeconds);
}

int InferCommand::run() {
  const double start = process_seconds();
  check_request();
  programs_.written = checked_outputs();
  keep_to_memory(request_.limits.bytes, request_.limits.threads, request_.options.workers.value_or(0));
  held_ = std::make_unique<Held>(Held{read(), {}});
  const ProgramsAreLeft leave(held_);
  const ModelInput& input = held_->input;
  take_query(request_.question.map, model_, input.model.graph, is_quiet_);
  const Interruption interruption;  // while there is no model, there is nothing to answer
  leave_time(process_seconds() - start, input.model.graph);
  InferDisplay display(request_, is_quiet_, trace_, !html_.empty());
  const auto& [question, limits, options] = request_;
  if (is_explained_) {
    fmt::print("{}", plan(input.model, question, limits, options, display.observer()).text());
    return 0;
  }
  if (!cases_.empty()) {
    answer_cases(input.model, request_, {cases_, cases_out_, is_going_on_, is_quiet_}, display);
    return 0;
  }
  request_.question.seconds_to_show = [&](const std::vector<Assignment>& samples) {
    return seconds_to_show_samples(samples, input.model.graph, json_ != "-" && html_ != "-", !json_.empty());
  };
  Answer& answer = held_->answer;
  answer = infer(input.model, question, limits, options, display.observer());
  Unwritten unwritten;
  unwritten.attempt([&] { display.finish(answer); });
  finish_programs(input.model, answer);
  show(answer, input, display.trace(), unwritten);
  if (answer.error) throw Error(*answer.error);
  unwritten.rethrow();
  if (answer.no_circuit) {
    throw Error(answer.no_circuit->code(),
                fmt::format("--compile: {} was not written: {}", printable(compile_), answer.no_circuit->what()));
  }
  return 0;
}

// Ends evaluations under way, or records them, so that the answer and the journal agree on what was paid for.
void InferCommand::finish_programs(const Model& model, Answer& answer) {
  if (!model.programs) return;
  try {
    model.programs->finish();
  } catch (const Error& error) {
    if (!answer.error) answer.error = error;
  }
  answer.program_counts = model.programs->counts();
  answer.calls = model.programs->calls();
}

// Writes files first: standard output may be a pipe that nobody reads any more.
void InferCommand::show(const Answer& answer, const ModelInput& input, const std::vector<TracePoint>& trace,
                        Unwritten& unwritten) const {
  const AnswerSource source{
      input.model_file,
      {{"journal", journal_}, {"evidence", input.evidence_file}, {"weights", weights_}, {"compile_file", compile_}}};
  const FactorGraph& graph = input.model.graph;
  unwritten.write(json_, [&] { write_file_atomically(json_, answer_json(answer, input.model, source)); });
  unwritten.write(html_, [&] { write_file_atomically(html_, answer_page(answer, input.model, source, trace)); });
  unwritten.write(answer.circuit ? compile_ : "", [&] { write_compiled(*answer.circuit, compile_); });
  unwritten.write(marginals_out_, [&] { write_marginals(answer, graph, marginals_out_); });
  unwritten.write(samples_out_, [&] { write_samples(answer, graph, samples_out_); });
  unwritten.write(uai_out_, [&] { write_uai_results(answer, input, uai_out_, is_quiet_); });
  if (json_ == "-") {
    fmt::print("{}", answer_json(answer, input.model, source));
  } else if (html_ == "-") {
    fmt::print("{}", answer_page(answer, input.model, source, trace));
  } else {
    fmt::print("{}", answer_text(answer, input.model, source));
  }
}

}  // namespace

std::unique_ptr<Command> make_infer_command() { return std::make_unique<InferCommand>(); }

}  // namespace treesample::cli
