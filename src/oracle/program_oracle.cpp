#include "oracle/program_oracle.hpp"

#include <fmt/format.h>

#include <utility>

#include "oracle/protocol.hpp"
#include "oracle/python_server.hpp"
#include "oracle/umbridge_oracle.hpp"
#include "treesample/error.hpp"

namespace treesample {

using Outcome = ChildProcess::Outcome;

OracleSource remote_source(const ProgramDescription& program) {
  return {.make = {},
          .max_batch = program.max_batch,
          .max_retries = program.max_retries,
          .on_failure = program.on_failure,
          .max_failure_share = program.max_failure_share,
          .description = fmt::format("program '{}'", program.name)};
}

OracleSource program_source(const JsonModel& model, int program, const std::filesystem::path& log) {
  const ProgramDescription& description = model.programs[program];
  if (description.umbridge) {
    std::vector<std::vector<int>> scopes;
    for (const FactorDescription& factor : model.factors) scopes.push_back(factor.scope);
    return umbridge_source(description, std::move(scopes));
  }
  const std::filesystem::path executable = find_executable(description.command[0], model.folder);
  if (executable.empty()) {
    const bool is_path = description.command[0].find('/') != std::string::npos;
    throw Error(ErrorCode::kIo,
                fmt::format("{}: programs.{}.command[0]: no executable file '{}' {}", model.source_name,
                            description.name, description.command[0],
                            is_path ? "in the folder of the model" : "in PATH (./NAME is one beside the model)"));
  }
  auto spec = std::make_shared<ProgramOracle::Spec>();
  spec->program = description;
  spec->child = {executable, description.command, model.folder, log};
  if (!description.python.empty()) {
    if (!std::filesystem::is_regular_file(model.folder / description.python)) {
      throw Error(ErrorCode::kIo, fmt::format("{}: programs.{}.python: no file '{}' in the folder of the model",
                                              model.source_name, description.name, description.python));
    }
    spec->child.command = {description.command[0], "-B", "-c", std::string(kPythonStart) + kFactorServer,
                           description.python};
  }
  spec->hello = format_hello(model, program);
  for (const FactorDescription& factor : model.factors) {
    spec->factor_names.push_back(factor.name);
    std::vector<std::string>& variables = spec->variables.emplace_back();
    for (const int v : factor.scope) variables.push_back(model.variables[v].name);
  }
  OracleSource source = remote_source(description);
  source.make = [spec](const StopSignal& stop) { return std::make_unique<ProgramOracle>(spec, stop); };
  return source;
}

ProgramOracle::ProgramOracle(std::shared_ptr<const Spec> spec, const StopSignal& stop)
    : spec_(std::move(spec)), stop_(&stop) {}

ProgramOracle::~ProgramOracle() {
  if (child_) child_->close();
}

void ProgramOracle::prepare() {
  if (child_) return;
  try {
    child_ = std::make_unique<ChildProcess>(spec_->child, *stop_);
    check_ready(exchange(spec_->hello, spec_->program.start_timeout_seconds));
  } catch (const ProgramComplaint& complaint) {
    child_.reset();
    // A file of Python functions that cannot be loaded now will not load later. Another program may have lacked
    // something for a moment.
    if (!spec_->program.python.empty()) throw OracleBroken{complaint.text};
    throw Error(ErrorCode::kIo, "it says at the start: " + complaint.text);
  } catch (...) {
    child_.reset();
    throw;
  }
}

std::vector<Evaluation> ProgramOracle::log_values(int factor, std::span<const std::vector<int>> batch) {
  try {
    const std::int64_t id = next_id_++;
    const std::string request = format_request(id, spec_->factor_names[factor], batch);
    const std::string answer = exchange(request, spec_->program.timeout_seconds * static_cast<double>(batch.size()));
    return parse_answer(answer, id, batch.size(), spec_->variables[factor]);
  } catch (const ProgramComplaint& complaint) {
    throw Error(ErrorCode::kIo, fmt::format("it says: {}", complaint.text));
  } catch (...) {
    child_.reset();  // its further output is useless
    throw;
  }
}

// Sends a line and returns the line that answers it.
std::string ProgramOracle::exchange(const std::string& line, double seconds) {
  const auto deadline = ChildProcess::Clock::now() + std::chrono::duration_cast<ChildProcess::Clock::duration>(
                                                         std::chrono::duration<double>(seconds));
  check(child_->write_line(line, deadline), seconds);
  std::string answer;
  check(child_->read_line(answer, deadline), seconds);
  return answer;
}

void ProgramOracle::check(Outcome outcome, double seconds) {
  std::string what;
  switch (outcome) {
    case Outcome::kDone:
      return;
    case Outcome::kStopped:
      throw OracleStopped();
    case Outcome::kTimeout:
      what = fmt::format("no answer within {} s (each line must be flushed)", seconds);
      break;
    case Outcome::kTooLong:
      what = fmt::format("a line of more than {} bytes", ChildProcess::kMaxLineBytes);
      break;
    case Outcome::kClosed:
      child_->close();
      what = "it " + child_->ending();
      break;
  }
  const std::string log = child_->last_log_line();
  throw Error(ErrorCode::kIo, what + (log.empty() ? "" : fmt::format(" (end of its log: {})", log)));
}

}  // namespace treesample
