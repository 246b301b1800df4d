#include <csignal>

#include "command.hpp"

namespace treesample::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_infer_command());
  commands.push_back(make_info_command());
  commands.push_back(make_convert_command());
  commands.push_back(make_generate_command());
  commands.push_back(make_compare_command());
  commands.push_back(make_reproduce_command());
  commands.push_back(make_train_command());
  commands.push_back(make_worker_command());
  commands.push_back(make_journal_command());
  commands.push_back(make_bench_command());
  commands.push_back(make_docs_command());
  return commands;
}

}  // namespace treesample::cli

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its limit is an error with a message, like a full disk
  return treesample::cli::run_program(argc, argv, treesample::cli::all_commands());
}
