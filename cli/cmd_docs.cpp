// treesample docs: the man page, and completions for shells; both are made from the declarations of the commands.
#include <fmt/format.h>

#include "described.hpp"

namespace treesample::cli {
namespace {

class DocsCommand final : public Command {
 public:
  std::string name() const override { return "docs"; }
  std::string summary() const override { return "The man page, or completions for a shell"; }
  std::string examples() const override {
    return "  treesample docs man > treesample.1\n"
           "  source <(treesample docs bash)          completes commands, options and their words\n"
           "  treesample docs fish > ~/.config/fish/completions/treesample.fish";
  }
  void declare(CommandLine& line) override {
    line.choice("WHAT", what_, {"man", "bash", "zsh", "fish"}, "What to print");
  }
  int run() override {
    std::vector<DescribedCommand> commands;
    for (const auto& command : all_commands()) commands.push_back(described(*command));
    fmt::print("{}", what_ == "man" ? man_page(commands) : completion_script(what_, commands));
    return 0;
  }

 private:
  std::string what_ = "man";
};

}  // namespace

std::unique_ptr<Command> make_docs_command() { return std::make_unique<DocsCommand>(); }

}  // namespace treesample::cli
