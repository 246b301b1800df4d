// treesample docs: the man page and completions for shells, made from the declarations of the commands; the fields of
// an answer, made from the table of results.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "described.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample::cli {
namespace {

// The table of docs/answer_file.md.
std::string answer_table() {
  std::string text = "| field | |\n|---|---|\n";
  for (const ResultInfo& result : answer_results()) text += fmt::format("| `{}` | {} |\n", result.name, result.help);
  return text;
}

std::string answer_schema() {
  using Json = nlohmann::ordered_json;
  Json properties = Json::object(), required = Json::array();
  for (const ResultInfo& result : answer_results()) {
    properties[result.name] = Json::parse(result.json_schema);
    properties[result.name]["description"] = result.help;
    required.push_back(result.name);
  }
  const Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "An answer of treesample"},
                       {"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", std::move(required)}};
  return json_text(schema, 1) + "\n";
}

class DocsCommand final : public Command {
 public:
  std::string name() const override { return "docs"; }
  std::string summary() const override { return "The man page, completions for a shell, the fields of an answer"; }
  std::string examples() const override {
    return "  treesample docs man > treesample.1\n"
           "  source <(treesample docs bash)          completes commands, options and their words\n"
           "  treesample docs fish > ~/.config/fish/completions/treesample.fish\n"
           "  treesample docs schema > answer.schema.json   of the JSON that `infer --json` writes";
  }
  void declare(CommandLine& line) override {
    line.choice("WHAT", what_, {"man", "bash", "zsh", "fish", "answer", "schema"}, "What to print");
  }
  int run() override {
    if (what_ == "answer" || what_ == "schema") {
      fmt::print("{}", what_ == "answer" ? answer_table() : answer_schema());
      return 0;
    }
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
