// treesample worker: helps from anywhere, answering questions of `infer` or training for `train`.
#include <fmt/format.h>

#include "command.hpp"
#include "program_consent.hpp"
#include "redis_input.hpp"
#include "terminal.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/oracle/question_worker.hpp"
#include "treesample/text.hpp"
#include "treesample/train/distributed.hpp"

namespace treesample::cli {
namespace {

class WorkerCommand final : public Command {
 public:
  std::string name() const override { return "worker"; }
  std::string summary() const override {
    return "Work for a run on another machine, until it ends: with --model for `infer`, without for `train`";
  }
  std::string examples() const override {
    return "  treesample worker --model model.json --redis redis://head-node:6379 --run pumps --key-file key.txt\n"
           "  treesample worker --model model.json --redis redis://head-node --run pumps --workers 8 --allow-programs\n"
           "  treesample worker --redis redis://head-node:6379 --run fg2\n"
           "  treesample worker --redis unix:/run/redis.sock --password-file secret.txt\n"
           "  treesample worker --redis redis://head-node --run fg2 --key-file key.txt";
  }
  void declare(CommandLine& line) override {
    line_ = &line;
    line.section("Questions of `infer --redis`");
    line.option("--model", model_, "FILE",
                "Answer questions about this model, whose programs run here; it must be the coordinator's");
    line.option("--workers", num_workers_, 1, OracleSet::kMaxWorkers, "Copies of each program that work at a time");
    line.flag("--stay", options_.stays, "Wait for the next run of that name when one has ended, up to --patience");
    line.flag(
        "--other-programs", options_.allow_other_programs,
        "Work even if commands or files of the programs differ from the coordinator's, because they compute the same");
    line.option("--log", log_, "FILE", "Append what programs write to their standard error");
    declare_consent(line, programs_);
    line.section("The run");
    redis_.declare(line);
    line.flag("--quiet", is_quiet_, "No remarks on standard error");
  }
  int run() override {
    if (!model_.empty()) return answer();
    for (const char* const option : {"--workers", "--stay", "--other-programs", "--log", "--allow-programs"}) {
      check_argument(!line_->is_given(option), option, "is for questions about a model (--model FILE)");
    }
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
  int answer() {
    const JsonModel model = read_json_model(model_);
    ProgramUse use = programs_;
    use.is_quiet = is_quiet_;
    require_consent(model, use);
    options_.redis = redis_.options();
    options_.num_workers = static_cast<int>(num_workers_);
    options_.log = log_;
    const Interruption interruption;
    const QuestionWorkerReport report =
        answer_questions(model, options_,
                         {.keep_going = [] { return !Interruption::is_asked(); },
                          .remark = [this](const std::string& text) { note(is_quiet_, text); }});
    note(is_quiet_, fmt::format("{}, {} of them failed, {}; {}", counted(report.num_evaluations, "evaluation"),
                                report.num_failed, counted(report.num_reconnects, "reconnection"),
                                report.is_run_finished ? "the run is finished" : "interrupted"));
    return 0;
  }

  CommandLine* line_ = nullptr;
  RedisInput redis_;
  QuestionWorkerOptions options_;
  std::string model_, log_;
  std::int64_t num_workers_ = 1;
  ProgramUse programs_;
  bool is_quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_worker_command() { return std::make_unique<WorkerCommand>(); }

}  // namespace treesample::cli
