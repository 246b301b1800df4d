// treesample build: objects that a program builds step by step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "file_roles.hpp"
#include "memory_limit.hpp"
#include "model_input.hpp"
#include "program_consent.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/program/environments.hpp"
#include "treesample/program/infer_program.hpp"
#include "treesample/program/process_program.hpp"
#include "treesample/program/reward_journal.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

constexpr int kObjectsShown = 10;

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

// --json has all of it.
std::string shown(NumberedProgram& program, const ProgramPath& object) {
  constexpr std::size_t kMostShown = 400;
  return shortened(program.text(object.end()), kMostShown);
}

class BuildCommand final : public Command {
 public:
  std::string name() const override { return "build"; }
  std::string summary() const override { return "Log Z, samples and the best of objects that a program builds"; }
  std::string examples() const override {
    return "  treesample build hypergrid --set height=8 --samples 5\n"
           "  treesample build dag --set file=measurements.csv --calls 300\n"
           "  treesample build hypergrid --fields       lists what --set takes\n"
           "  treesample build grid.json --calls 1000 --journal rewards.journal\n"
           "  treesample build grid.json --samples 10 --time 60\n"
           "  treesample build grid.json --check";
  }
  void declare(CommandLine& line) override {
    line.positional(
        "PROGRAM", file_,
        "Description of the program (.json; docs/programs.md has the format), or the name of an environment: " +
            joined(environment_names()));
    line.option("--set", settings_, "NAME=VALUE", "A field of the environment; may be repeated");
    line.flag("--fields", list_fields_, "List the environment's fields and stop");
    line.option("--calls", calls_, 0, Limits::kUnlimited,
                "Most evaluations of rewards; of a program without rewards at its ends, of actions");
    line.seconds("--time", seconds_, "Most seconds");
    line.option("--memory", memory_, "SIZE", "Most memory, such as 4G");
    line.option("--gap", gap_, 0.0, 1e9, "The search ends when upper and lower bound of log Z are this near");
    line.word("--method", options_.method,
              {{"auto", ProgramMethod::kAuto},
               {"exact", ProgramMethod::kExact},
               {"search", ProgramMethod::kSearch},
               {"tree", ProgramMethod::kTree},
               {"black-box", ProgramMethod::kBlackBox}},
              "How: all states, search with bounds, the paper's tree search, or rewards that are learned");
    line.option("--samples", options_.samples, 0, 10'000'000, "Objects to draw");
    line.option("--seed", seed_, 0, INT64_MAX, "Seed of everything random");
    line.option("--batch", options_.batch, 1, 1'000'000, "Rewards that are asked for in one line");
    line.option("--journal", journal_, "FILE", "Keeps all rewards, so that none is paid for twice");
    line.option("--json", json_, "FILE", "Also write the answer as JSON");
    line.flag("--check", checks_, "Look for mistakes in the program, in its first states");
    declare_consent(line, use_);
  }
  int run() override;

 private:
  [[nodiscard]] Limits limits() const;
  [[nodiscard]] bool is_environment() const;
  [[nodiscard]] std::map<std::string, std::string> settings() const;
  std::unique_ptr<NumberedProgram> open(const std::vector<FileRole>& written);
  int answer(NumberedProgram& program);
  static void show(const ProgramAnswer& answer, NumberedProgram& program);
  static std::string json_of(const ProgramAnswer& answer, NumberedProgram& program);

  std::string file_, memory_, journal_, json_;
  std::int64_t calls_ = Limits::kUnlimited, seed_ = 0;
  double seconds_ = std::numeric_limits<double>::infinity(), gap_ = 0.0;
  bool checks_ = false, list_fields_ = false;
  std::vector<std::string> settings_;
  std::string journal_name_;
  ProgramOptions options_;
  ProgramUse use_;
};

Limits BuildCommand::limits() const {
  Limits limits;
  limits.calls = calls_;
  limits.seconds = seconds_;
  limits.gap = gap_;
  limits.bytes = memory_of(memory_, limits.bytes);
  return limits;
}

// A name is a word; a description ends in .json.
bool BuildCommand::is_environment() const { return file_.find_first_of("./\\") == std::string::npos; }

std::map<std::string, std::string> BuildCommand::settings() const {
  std::map<std::string, std::string> settings;
  for (const std::string& setting : settings_) {
    const std::size_t equals = setting.find('=');
    check_argument(equals != std::string::npos, "--set", fmt::format("'{}' is not NAME=VALUE", printable(setting)));
    settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return settings;
}

// An environment, or a process that has the user's consent.
std::unique_ptr<NumberedProgram> BuildCommand::open(const std::vector<FileRole>& written) {
  if (is_environment()) {
    const std::map<std::string, std::string> values = settings();
    std::vector<FileRole> read;
    for (const char* const field : {"file", "after", "at"}) {
      if (values.contains(field)) read.push_back({"--set", values.at(field)});
    }
    check_distinct(read, written);
    if (!json_.empty()) check_writable(json_);
    journal_name_ = file_;
    for (const auto& [name, value] : values) journal_name_ += fmt::format(" {}={}", name, value);
    return make_environment(file_, values);
  }
  check_argument(settings_.empty(), "--set", fmt::format("is for environments: {}", joined(environment_names())));
  check_distinct({{"PROGRAM", file_}}, written);
  const JsonModel model = read_process_program(file_);
  if (!json_.empty()) check_writable(json_);
  require_consent(model, use_);
  journal_name_ = model.programs.front().name;
  return start_process_program(model);
}

int BuildCommand::run() {
  if (list_fields_) {
    for (const EnvironmentField& field : environment_fields(file_)) {
      fmt::print("{:<20} {:>10}  {}\n", field.name, field.preset.empty() ? "needed" : field.preset, field.help);
    }
    return 0;
  }
  const Limits wanted = limits();  // a mistake in a limit is said before anything runs
  if (!memory_.empty()) keep_to_memory(wanted.bytes);
  std::vector<FileRole> written;
  if (!journal_.empty()) written.push_back({"--journal", journal_});
  if (!json_.empty()) written.push_back({"--json", json_});
  const Interruption interruption;
  const std::unique_ptr<NumberedProgram> program = open(written);
  if (!checks_) return answer(*program);
  fmt::print("{}\n", check_program(*program, 10'000, 100));
  return 0;
}

int BuildCommand::answer(NumberedProgram& program) {
  std::optional<RewardJournal> journal;
  if (!journal_.empty()) journal.emplace(journal_, journal_name_);
  Progress progress(/*is_quiet=*/false);
  options_.seed = static_cast<std::uint64_t>(seed_);
  const Observer observer{.progress =
                              [&](const treesample::Progress& now) {
                                progress.show(now.share_done.value_or(-1.0),
                                              fmt::format("{}: {}", now.phase, counted(now.spent.calls, "call")));
                              },
                          .should_stop = [] { return Interruption::is_asked(); }};
  const ProgramAnswer answer = infer_program(program, options_, limits(), observer, journal ? &*journal : nullptr);
  progress.clear();
  show(answer, program);
  if (!json_.empty()) write_file_atomically(json_, json_of(answer, program));
  return 0;
}

void BuildCommand::show(const ProgramAnswer& answer, NumberedProgram& program) {
  if (answer.is_exact) {
    fmt::print("log Z       {}, exact (certified to {})\n", log_value_text(*answer.estimate),
               tolerance_text(0.5 * answer.log_z.width(), 2));
  } else {
    if (answer.estimate) fmt::print("log Z       {} (an estimate)\n", log_value_text(*answer.estimate));
    fmt::print("            at least {}{}, certified\n", decimal_bound(answer.log_z.lower, -1.0),
               answer.log_z.upper == HUGE_VAL ? "" : ", at most " + decimal_bound(answer.log_z.upper, 1.0));
  }
  if (answer.best) {
    fmt::print("best        log weight {} at {}{}\n", fixed(answer.best->log_weight), shown(program, *answer.best),
               answer.is_best_optimal ? "; optimal" : "");
  }
  for (int i = 0; i < std::min<int>(kObjectsShown, static_cast<int>(answer.samples.size())); ++i) {
    const ProgramPath& sample = answer.samples[static_cast<std::size_t>(i)];
    fmt::print("{}log prob {} {}\n", i == 0 ? "samples     " : "            ", fixed(sample.log_prob),
               shown(program, sample));
  }
  if (static_cast<int>(answer.samples.size()) > kObjectsShown) fmt::print("            ... (--json has all of them)\n");
  for (const std::string& remark : answer.remarks) fmt::print("remark      {}\n", remark);
  fmt::print("spent       {}, {}, {} in {:.2f} s: {}; ended by: {}\n", counted(answer.spent.calls, "call"),
             counted(answer.num_states, "state"), counted(answer.num_ends, "end"), answer.seconds, answer.method,
             to_string(answer.stop));
}

// Infinite numbers are texts, as in all answers. Texts of a process's states are JSON.
std::string BuildCommand::json_of(const ProgramAnswer& answer, NumberedProgram& program) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(value > 0.0 ? "inf" : "-inf");
  };
  const auto object = [&](const ProgramPath& path) {
    return nlohmann::ordered_json{{"object", nlohmann::ordered_json::parse(program.text(path.end()))},
                                  {"log_weight", number(path.log_weight)},
                                  {"log_prob", number(path.log_prob)}};
  };
  nlohmann::ordered_json json{{"format", "treesample objects"}, {"version", 1}};
  json["log_z"] = {{"estimate", answer.estimate ? number(*answer.estimate) : nlohmann::ordered_json()},
                   {"lower", number(answer.log_z.lower)},
                   {"upper", number(answer.log_z.upper)},
                   {"exact", answer.is_exact}};
  json["best"] = answer.best ? object(*answer.best) : nlohmann::ordered_json();
  json["best_is_optimal"] = answer.is_best_optimal;
  json["samples"] = nlohmann::ordered_json::array();
  for (const ProgramPath& path : answer.samples) json["samples"].push_back(object(path));
  json["samples_are_exact"] = answer.has_exact_samples;
  json["method"] = answer.method;
  json["stop"] = to_string(answer.stop);
  json["calls"] = answer.spent.calls;
  json["states"] = answer.num_states;
  json["ends"] = answer.num_ends;
  json["rewards"] = answer.num_rewards;
  json["seconds"] = answer.seconds;
  json["remarks"] = answer.remarks;
  return json_text(json, 1) + "\n";
}

}  // namespace

std::unique_ptr<Command> make_build_command() { return std::make_unique<BuildCommand>(); }

}  // namespace treesample::cli
