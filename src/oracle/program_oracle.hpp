// An external program as an oracle. It is started when it is first needed, and again after every fault.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "oracle/child_process.hpp"
#include "oracle/oracle.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample {

// The source for one program of a model. Throws kIo if the program does not exist.
OracleSource program_source(const JsonModel& model, int program, const std::filesystem::path& log);
// The same for a program that runs elsewhere: it makes no oracles.
OracleSource remote_source(const ProgramDescription& program);

class ProgramOracle final : public Oracle {
 public:
  struct Spec {
    ProgramDescription program;
    ChildOptions child;
    std::string hello;
    std::vector<std::string> factor_names;
    std::vector<std::vector<std::string>> variables = {};  // of the scopes, by factor  // by index in the model
  };
  ProgramOracle(std::shared_ptr<const Spec> spec, const StopSignal& stop);
  ~ProgramOracle() override;

  // Both throw an Error that names the fault of the program. The program has then been ended, unless it reported an
  // error itself.
  void prepare() override;
  std::vector<Evaluation> log_values(int factor, std::span<const std::vector<int>> batch) override;

 private:
  std::string exchange(const std::string& line, double seconds);
  void check(ChildProcess::Outcome outcome, double seconds);

  std::shared_ptr<const Spec> spec_;
  const StopSignal* stop_;
  std::unique_ptr<ChildProcess> child_;  // null if it is not running
  std::int64_t next_id_ = 0;
};

}  // namespace treesample
