#include "treesample/oracle/program_value.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "oracle/blocked_signals.hpp"
#include "oracle/program_oracle.hpp"
#include "oracle/protocol.hpp"
#include "oracle/python_server.hpp"
#include "treesample/error.hpp"
#include "treesample/io/json_text.hpp"

namespace treesample {
namespace {

using Rows = std::vector<std::vector<int>>;

// The program and the thread that talks to it. The thread is needed because a program must be started by a thread that
// outlives it and does not receive SIGPIPE, and because the caller must be able to stop waiting.
class ValueProgram {
 public:
  explicit ValueProgram(std::shared_ptr<const ProgramOracle::Spec> spec) : spec_(std::move(spec)) {
    const BlockedSignals blocked;
    thread_ = std::thread([this] { work(); });
  }
  ~ValueProgram() {
    {
      const std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    stop_.raise();
    wake_.notify_one();
    thread_.join();
  }
  ValueProgram(const ValueProgram&) = delete;
  ValueProgram& operator=(const ValueProgram&) = delete;

  // One number per row; none if it was asked to stop.
  std::optional<std::vector<Evaluation>> ask(int variable, Rows rows, const ShouldStop& should_stop) {
    std::future<std::vector<Evaluation>> answer;
    {
      const std::scoped_lock lock(mutex_);
      question_.emplace(Question{variable, std::move(rows), {}});
      answer = question_->answer.get_future();
    }
    wake_.notify_one();
    constexpr std::chrono::milliseconds kAnswerPatience{20};
    while (answer.wait_for(kAnswerPatience) != std::future_status::ready) {
      if (should_stop && should_stop()) stop_.raise();
    }
    try {
      return answer.get();
    } catch (const OracleStopped&) {
      return {};
    } catch (const OracleBroken& broken) {
      throw Error(ErrorCode::kIo, fmt::format("{}: {}", spec_->program.name, broken.text));
    } catch (const Error& error) {
      throw Error(ErrorCode::kIo, fmt::format("{}: {}", spec_->program.name, error.what()));
    }
  }

 private:
  struct Question {
    int variable = 0;
    Rows rows;
    std::promise<std::vector<Evaluation>> answer;
  };

  void work() {
    ProgramOracle program(spec_, stop_);
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return is_over_ || question_; });
      if (is_over_) return;
      Question question = std::move(*question_);
      question_.reset();
      lock.unlock();
      try {
        program.prepare();
        question.answer.set_value(program.log_values(question.variable, question.rows));
      } catch (...) {
        question.answer.set_exception(std::current_exception());
      }
      lock.lock();
    }
  }

  std::shared_ptr<const ProgramOracle::Spec> spec_;
  StopSignal stop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Question> question_;
  bool is_over_ = false;
  std::thread thread_;
};

std::shared_ptr<const ProgramOracle::Spec> spec_of(const std::string& file, const FactorGraph& graph) {
  auto spec = std::make_shared<ProgramOracle::Spec>();
  spec->program.name = fmt::format("leaf '{}'", file);
  const std::filesystem::path folder = std::filesystem::current_path();
  if (file.ends_with(".py")) {
    if (!std::filesystem::is_regular_file(file)) {
      throw Error(ErrorCode::kIo, fmt::format("{}: there is no such file", spec->program.name));
    }
    spec->program.python = file;
    spec->child = {find_executable("python3", folder),
                   {"python3", "-B", "-c", std::string(kPythonStart) + kFactorServer, file},
                   folder,
                   {}};
  } else {
    spec->child = {find_executable(file, folder), {file}, folder, {}};
  }
  if (spec->child.executable.empty()) {
    throw Error(ErrorCode::kIo,
                fmt::format("{}: there is no executable file '{}'", spec->program.name, spec->child.command.front()));
  }
  nlohmann::json variables = nlohmann::json::array();
  for (int v = 0; v < graph.num_variables(); ++v) {
    const Variable& variable = graph.variable(v);
    spec->factor_names.push_back(variable.name.empty() ? fmt::format("x{}", v) : variable.name);
    variables.push_back({{"name", spec->factor_names.back()}, {"states", described_states(variable)}});
  }
  spec->hello = json_text(nlohmann::json{{"treesample", kProtocolVersion}, {"variables", variables}});
  spec->variables.resize(spec->factor_names.size());
  return spec;
}

}  // namespace

ValueFunction program_value(const std::string& file, const FactorGraph& graph, const ShouldStop& should_stop) {
  std::vector<int> num_states;
  for (int v = 0; v < graph.num_variables(); ++v) num_states.push_back(graph.num_states(v));
  const auto program = std::make_shared<ValueProgram>(spec_of(file, graph));
  return [=](int variable, std::span<const int> prefixes, int count, std::span<double> q) {
    const std::size_t width = num_states.size();
    Rows rows;
    for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
      const std::span<const int> prefix = prefixes.subspan(r * width, width);
      for (int state = 0; state < num_states[variable]; ++state) {
        rows.emplace_back(prefix.begin(), prefix.end())[static_cast<std::size_t>(variable)] = state;
      }
    }
    const std::size_t num_rows = rows.size();
    const auto values = program->ask(variable, std::move(rows), should_stop);
    for (std::size_t i = 0; i < num_rows; ++i) {
      if (!values) {
        q[i] = 0.0;  // the value does not matter: the search ends now
        continue;
      }
      const Evaluation& value = (*values)[i];
      if (!value.failure.empty()) throw Error(ErrorCode::kIo, fmt::format("leaf '{}': {}", file, value.failure));
      q[i] = value.log_value;
    }
  };
}

}  // namespace treesample
