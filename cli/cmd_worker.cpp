// treesample worker: joins a training run from anywhere.
#include <fmt/format.h>

#include "command.hpp"
#include "redis_input.hpp"
#include "terminal.hpp"
#include "treesample/text.hpp"
#include "treesample/train/distributed.hpp"

namespace treesample::cli {
namespace {

class WorkerCommand final : public Command {
 public:
  std::string name() const override { return "worker"; }
  std::string summary() const override { return "Work for a training run on another machine, until it ends"; }
  std::string examples() const override {
    return "  treesample worker --redis redis://head-node:6379 --run fg2\n"
           "  treesample worker --redis unix:/run/redis.sock --password-file secret.txt\n"
           "  treesample worker --redis redis://head-node --run fg2 --key-file key.txt";
  }
  void declare(CommandLine& line) override {
    redis_.declare(line);
    line.flag("--quiet", is_quiet_, "No remarks on standard error");
  }
  int run() override {
    const Interruption interruption;
    const WorkerReport report =
        run_worker(redis_.options(), {.keep_going = [] { return !Interruption::is_asked(); },
                                      .remark = [this](const std::string& text) { note(is_quiet_, text); }});
    note(is_quiet_, fmt::format("{}, {}; {}", counted(report.num_episodes, "episode"),
                                counted(report.num_reconnects, "reconnection"),
                                report.is_run_finished ? "the run is finished" : "interrupted"));
    return 0;
  }

 private:
  RedisInput redis_;
  bool is_quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_worker_command() { return std::make_unique<WorkerCommand>(); }

}  // namespace treesample::cli
