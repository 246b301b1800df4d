// treesample convert: a model in another format.
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "file_roles.hpp"
#include "infer_display.hpp"
#include "memory_limit.hpp"
#include "model_input.hpp"
#include "reading_watch.hpp"
#include "terminal.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/model_file.hpp"

namespace treesample::cli {
namespace {

class ConvertCommand final : public Command {
 public:
  std::string name() const override { return "convert"; }
  std::string summary() const override { return "Write a model in another format"; }
  std::string examples() const override {
    return "  treesample convert network.bif network.xmlbif\n  treesample convert network.bif network.uai\n"
           "  treesample convert model.uai model.json";
  }
  void declare(CommandLine& line) override {
    line.positional("FROM", from_,
                    "Model file (.uai, .bif, .xmlbif, .xdsl, .net, .dsc, .fg, .cnf, .wcsp, .cfn, .wcnf, .json)");
    line.positional("TO", to_, "File to write; its name says in which format");
    line.seconds("--time", seconds_,
                 "Seconds for reading the model and making the text of the other; nothing is written after that");
    line.option("--memory", memory_, "SIZE", "For both, such as 4G");
    line.flag("--quiet", is_quiet_, "No remarks on standard error");
  }
  int run() override;

 private:
  std::string from_, to_, memory_;
  double seconds_ = 1e9;
  bool is_quiet_ = false;
};

bool has_names(const FactorGraph& graph) {
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (!graph.variable(v).name.empty() || !graph.variable(v).state_names.empty()) return true;
  }
  return false;
}

int ConvertCommand::run() {
  check_distinct({{"FROM", from_}}, {{"TO", to_}});
  keep_to_memory(memory_of(memory_, Limits{}.bytes));
  const UnpackLimits unpack =
      unpack_limits(memory_of(memory_, Limits{}.bytes), [end = seconds_] { return process_seconds() > end; });
  auto watch = std::make_unique<const ReadingWatch>(std::vector{from_}, seconds_, "converted");
  const ModelInput input =
      read_input(from_, input_options(from_, {}, {.runs_them = false, .written = {{"TO", to_}}}, {}, unpack));
  check_input(input, {}, is_quiet_);
  const FactorGraph& graph = input.model.graph;
  const std::string text = format_model(graph, to_);
  watch.reset();  // nothing may end the program while it writes
  write_file_atomically(to_, text);
  std::string extension = std::filesystem::path(to_).extension().string();
  if ((extension == ".uai" || extension == ".UAI") && has_names(graph)) {
    note(is_quiet_, "UAI files have no names: variables and states are numbered from 0, in their order");
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace treesample::cli
