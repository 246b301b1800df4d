#include "treesample/oracle/program_models.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "oracle/child_process.hpp"
#include "treesample/error.hpp"
#include "treesample/io/model_file.hpp"

namespace treesample {
namespace {

constexpr std::chrono::seconds kPatience{60};

std::string outcome_text(ChildProcess::Outcome outcome) {
  if (outcome == ChildProcess::Outcome::kTimeout) return fmt::format("is not done after {} s", kPatience.count());
  return fmt::format("prints more than {} MiB", ChildProcess::kMaxLineBytes >> 20);
}

}  // namespace

std::function<FactorGraph(std::uint64_t number)> program_models(const std::string& program) {
  ChildOptions child;
  child.folder = std::filesystem::current_path();
  const bool is_python = program.ends_with(".py");
  if (is_python) child.command = {"python3", "-B"};
  child.command.push_back(program);
  child.executable = find_executable(child.command.front(), child.folder);
  if (child.executable.empty() || (is_python && !std::filesystem::is_regular_file(program))) {
    throw Error(ErrorCode::kIo, fmt::format("generator '{}': there is no such program", program));
  }
  return [child, program](std::uint64_t number) {
    ChildOptions here = child;
    here.command.push_back(std::to_string(number));
    const std::string source = fmt::format("generator '{}' with the number {}", program, number);
    const StopSignal never;
    ChildProcess process(here, never);
    std::string text;
    const ChildProcess::Outcome outcome = process.read_all(text, ChildProcess::Clock::now() + kPatience);
    if (outcome != ChildProcess::Outcome::kDone) {
      throw Error(ErrorCode::kIo, fmt::format("{} {}", source, outcome_text(outcome)));
    }
    process.close();
    if (!process.has_succeeded()) {
      throw Error(ErrorCode::kIo, fmt::format("{} {}; run it by hand to see why", source, process.ending()));
    }
    FactorGraph graph = parse_model(text, extension_of_text(text), source);
    if (graph.num_variables() == 0) throw Error(ErrorCode::kIo, source + " prints no model with variables");
    return graph;
  };
}

}  // namespace treesample
