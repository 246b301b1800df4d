#include "treesample/program/process_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "io/json_fields.hpp"
#include "oracle/child_process.hpp"
#include "oracle/protocol.hpp"
#include "oracle/python_server.hpp"
#include "program/object_server.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using Json = nlohmann::json;
using Outcome = ChildProcess::Outcome;

constexpr std::size_t kShown = 80;  // bytes of JSON in a message

// A process that dies must not end this one.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pipe;
    ::sigemptyset(&pipe);
    ::sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before_);
  }
  ~NoPipeSignal() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t before_{};
};

class ProcessProgram final : public NumberedProgram {
 public:
  ProcessProgram(const ChildOptions& child, std::string name, double timeout_seconds)
      : name_(std::move(name)), timeout_seconds_(timeout_seconds), child_(child, stop_) {
    begin();
  }

  [[nodiscard]] ProgramParts parts() const override { return parts_; }
  StateId start() override { return start_; }
  bool is_end(StateId state) override { return seen(state).is_end; }
  void actions(StateId state, std::vector<Transition>& out) override;
  void rewards(std::span<const StateId> ends, std::span<double> values) override;
  double upper(StateId state) override { return parts_.has_upper ? seen(state).upper : HUGE_VAL; }
  double value(StateId state) override { return parts_.has_value ? seen(state).value : 0.0; }
  double log_paths(StateId state) override { return parts_.has_log_paths ? seen(state).log_paths : 0.0; }
  std::vector<int> encode(StateId state) override { return seen(state).encoding; }
  void compare_merged(bool) override {}  // the process gives canonical states itself
  [[nodiscard]] std::string text(StateId state) override { return json_text(states_[state]); }
  [[nodiscard]] std::string action_text(StateId state, int action) override;
  [[nodiscard]] std::size_t num_states() const override { return states_.size(); }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  struct Seen {
    bool is_known = false, is_end = false;
    double upper = 0.0, value = 0.0, log_paths = 0.0;
    std::vector<int> encoding;
  };

  void begin();
  void define(const Json& name);
  Seen& seen(StateId state) {
    if (!seen_[state].is_known) look({state});
    return seen_[state];
  }
  void look(const std::vector<StateId>& states);
  void take(StateId state, const Json& found);
  StateId id_of(const Json& state);
  Json exchange(const Json& question);
  Json ask(const char* what, const std::vector<Json>& states, const char* answer);
  double number(const Json& value, const char* what) const;
  void check(Outcome outcome);
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kIo, fmt::format("program '{}': {}", name_, what));
  }

  const NoPipeSignal no_signal_;
  const std::string name_;
  const double timeout_seconds_;
  StopSignal stop_;
  ChildProcess child_;
  std::int64_t next_id_ = 1;
  ProgramParts parts_;
  StateId start_ = 0;
  std::vector<Json> states_;
  std::vector<Seen> seen_;
  std::unordered_map<std::string, StateId> ids_;  // by the text of the state
  std::unordered_map<StateId, Json> actions_;     // of states that were looked at, until they are taken
  std::size_t bytes_ = 0;
};

void ProcessProgram::begin() {
  const Json ready = exchange({{"treesample", kProtocolVersion}, {"builds", "objects"}});
  if (ready.value("ready", Json()) != true || !ready.contains("start")) {
    fail(fmt::format("begins with {}, and not with ready and start", shortened(json_text(ready), kShown)));
  }
  parts_.is_ordered = ready.value("ordered", Json(false)) == true;
  const Json objects = ready.value("objects", Json("ends")), defines = ready.value("defines", Json::array());
  if (objects != "ends" && objects != "paths")
    fail(fmt::format("objects is {}, allowed are ends and paths", json_text(objects)));
  if (!defines.is_array()) fail("defines is no list");
  parts_.objects = objects == "paths" ? ProgramObjects::kPaths : ProgramObjects::kEnds;
  for (const Json& name : defines) define(name);
  start_ = id_of(ready["start"]);
}

void ProcessProgram::define(const Json& name) {
  if (name == "reward") {
    parts_.has_reward = true;
  } else if (name == "upper") {
    parts_.has_upper = true;
  } else if (name == "value") {
    parts_.has_value = true;
  } else if (name == "log_paths") {
    parts_.has_log_paths = parts_.objects == ProgramObjects::kPaths;
  } else if (name == "encode") {
    parts_.has_encoding = true;
  } else {
    fail(fmt::format("defines has {}, allowed are reward, upper, value, log_paths, encode", json_text(name)));
  }
}

StateId ProcessProgram::id_of(const Json& state) {
  std::string text = json_text(state);
  const auto [place, is_new] = ids_.try_emplace(std::move(text), static_cast<StateId>(states_.size()));
  if (!is_new) return place->second;
  constexpr std::size_t kPerState = 300, kPerByte = 8;  // a guess: JSON takes more than its text
  bytes_ += kPerState + kPerByte * place->first.size();
  states_.push_back(state);
  seen_.emplace_back();
  return place->second;
}

// What the process says is checked by the engine, but for its form.
double ProcessProgram::number(const Json& value, const char* what) const {
  if (value.is_number()) return value.get<double>();
  if (value == "-inf" || value == "-Infinity") return kNegInf;
  if (value == "inf" || value == "Infinity") return HUGE_VAL;
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  fail(fmt::format("{} is {}, allowed are numbers and \"-inf\"", what, shortened(json_text(value), kShown)));
}

void ProcessProgram::look(const std::vector<StateId>& states) {
  std::vector<Json> asked;
  for (const StateId state : states) asked.push_back(states_[state]);
  const Json found = ask("look", asked, "states");
  for (std::size_t i = 0; i < states.size(); ++i) take(states[i], found[i]);
}

void ProcessProgram::take(StateId state, const Json& found) {
  if (!found.is_object() || (found.value("end", Json(false)) != true && !found.contains("actions"))) {
    fail(fmt::format("says of the state {}: {}, and neither end nor actions", shortened(text(state), kShown),
                     shortened(json_text(found), kShown)));
  }
  Seen& seen = seen_[state];
  seen.is_known = true;
  seen.is_end = found.value("end", Json(false)) == true;
  const auto part = [&](bool is_defined, const char* name, double& value) {
    if (is_defined && !found.contains(name)) {
      fail(fmt::format("gives no {} for the state {}", name, shortened(text(state), kShown)));
    }
    if (is_defined) value = number(found[name], name);
  };
  part(parts_.has_upper, "upper", seen.upper);
  part(parts_.has_value, "value", seen.value);
  if (!seen.is_end) {
    actions_[state] = found["actions"];
    return;
  }
  part(parts_.has_log_paths, "log_paths", seen.log_paths);
  if (!parts_.has_encoding) return;
  const Json encoding = found.value("encode", Json());
  const auto is_whole = [](const Json& item) { return item.is_number_integer(); };
  if (!encoding.is_array() || !std::all_of(encoding.begin(), encoding.end(), is_whole)) {
    fail(
        fmt::format("encode is {}, allowed is a list of whole numbers from 0", shortened(json_text(encoding), kShown)));
  }
  seen.encoding = encoding.get<std::vector<int>>();
}

void ProcessProgram::actions(StateId state, std::vector<Transition>& out) {
  if (!actions_.contains(state)) look({state});
  const Json actions = std::move(actions_[state]);
  actions_.erase(state);
  if (!actions.is_array()) fail(fmt::format("actions is {}, allowed is a list", shortened(json_text(actions), kShown)));
  std::vector<StateId> unseen;
  int place = 0;
  for (const Json& action : actions) {
    if (!action.is_array() || action.size() < 2 || action.size() > 3) {
      fail(fmt::format("an action is {}, allowed are [action, state] and [action, state, log reward]",
                       shortened(json_text(action), kShown)));
    }
    const bool has_reward = action.size() == 3 && !action[2].is_null();
    const std::size_t num_before = states_.size();
    out.push_back({has_reward ? number(action[2], "a log reward") : 0.0, id_of(action[1]), place++});
    if (states_.size() > num_before) unseen.push_back(out.back().next);
  }
  if (!unseen.empty()) look(unseen);  // all at once: it costs less than one after the other
}

void ProcessProgram::rewards(std::span<const StateId> ends, std::span<double> values) {
  std::vector<Json> asked;
  for (const StateId end : ends) asked.push_back(states_[end]);
  const Json found = ask("reward", asked, "log_rewards");
  for (std::size_t i = 0; i < ends.size(); ++i) values[i] = number(found[i], "a log reward");
}

std::string ProcessProgram::action_text(StateId state, int action) {
  const Json found = ask("look", {states_[state]}, "states");
  const Json actions = found[0].value("actions", Json::array());
  const auto place = static_cast<std::size_t>(action);
  if (place >= actions.size() || !actions[place].is_array() || actions[place].empty()) return std::to_string(action);
  return json_text(actions[place][0]);
}

Json ProcessProgram::ask(const char* what, const std::vector<Json>& states, const char* answer) {
  const std::int64_t id = next_id_++;
  Json found = exchange({{"id", id}, {what, states}});
  if (found.contains("error")) fail(fmt::format("says: {}", shortened(json_text(found["error"]), 300)));
  if (found.value("id", Json()) != id || !found.contains(answer) || !found[answer].is_array() ||
      found[answer].size() != states.size()) {
    fail(fmt::format("answers {}, and not id {} with {} in {}", shortened(json_text(found), kShown), id,
                     counted(std::ssize(states), "entry"), answer));
  }
  return found[answer];
}

Json ProcessProgram::exchange(const Json& question) {
  const auto deadline = ChildProcess::Clock::now() + std::chrono::duration_cast<ChildProcess::Clock::duration>(
                                                         std::chrono::duration<double>(timeout_seconds_));
  check(child_.write_line(json_text(question), deadline));
  std::string line;
  check(child_.read_line(line, deadline));
  try {
    Json found = parse_json(quote_python_words(line));
    if (found.is_object()) {
      if (found.contains("error") && !found.contains("id")) fail(fmt::format("says: {}", json_text(found["error"])));
      return found;
    }
  } catch (const JsonProblem&) {
    // Shown below.
  }
  fail(fmt::format("writes {}, which is no object of JSON on one line", shortened(line, kShown)));
}

void ProcessProgram::check(Outcome outcome) {
  std::string what;
  switch (outcome) {
    case Outcome::kDone:
      return;
    case Outcome::kStopped:
      throw Error(ErrorCode::kInterrupted, "program: asked to end");
    case Outcome::kTimeout:
      what = fmt::format("no answer within {} s (each line must be flushed)", timeout_seconds_);
      break;
    case Outcome::kTooLong:
      what = fmt::format("a line of more than {} bytes", ChildProcess::kMaxLineBytes);
      break;
    case Outcome::kClosed:
      child_.close();
      what = "it " + child_.ending();
      break;
  }
  const std::string log = child_.last_log_line();
  fail(what + (log.empty() ? "" : fmt::format(" (end of its log: {})", log)));
}

}  // namespace

JsonModel read_process_program(const std::filesystem::path& path) {
  const std::string name = path.string();
  const Json json = parse_json_text(read_file(path), name);
  const JsonField field(json, name);
  field.require_object({"format", "command", "python", "timeout_seconds"});
  if (!field.has("format") || field.json()["format"] != "treesample program") {
    field.fail("format must be \"treesample program\"");
  }
  if (field.has("command") == field.has("python")) field.fail("allowed is exactly one of the fields command, python");
  JsonModel model;
  model.source_name = name;
  if (path.has_parent_path()) model.folder = path.parent_path();
  ProgramDescription program{.name = path.filename().string(), .command = {}};
  if (field.has("python")) {
    program.python = field.at("python").text();
    program.command = {"python3", program.python};
  } else {
    const JsonField command = field.at("command");
    for (int i = 0; i < command.array_size(); ++i) program.command.push_back(command.at(i).text());
    if (program.command.empty()) command.fail("the list is empty, its first entry is the program");
  }
  if (field.has("timeout_seconds"))
    program.timeout_seconds = field.at("timeout_seconds").number(0.001, kMaxProgramSeconds);
  model.programs.push_back(std::move(program));
  return model;
}

std::unique_ptr<NumberedProgram> start_process_program(const JsonModel& model) {
  const ProgramDescription& program = model.programs.at(0);
  const std::filesystem::path executable = find_executable(program.command[0], model.folder);
  if (executable.empty()) {
    throw Error(ErrorCode::kIo, fmt::format("{}: command[0]: no executable file '{}' (./NAME is one beside the file)",
                                            model.source_name, program.command[0]));
  }
  ChildOptions child{executable, program.command, model.folder, {}};
  if (!program.python.empty()) {
    if (!std::filesystem::is_regular_file(model.folder / program.python)) {
      throw Error(ErrorCode::kIo, fmt::format("{}: python: no file '{}' beside it", model.source_name, program.python));
    }
    child.command = {program.command[0], "-B", "-c", std::string(kPythonStart) + kObjectServer, program.python};
  }
  return std::make_unique<ProcessProgram>(child, program.name, program.timeout_seconds);
}

}  // namespace treesample
