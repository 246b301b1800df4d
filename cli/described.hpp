// A command as described by its declarations: the source of help, man pages and completions.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace treesample::cli {

struct DescribedOption {
  std::string name;  // such as --time or MODEL
  std::string meta;  // placeholder for the value; empty for a flag
  std::string initial;
  std::string help;
  std::string section;
  bool is_common = true;
  bool is_required = false;
  std::vector<std::string> words = {};  // the allowed words, if there is a fixed set

  [[nodiscard]] bool is_positional() const { return !name.starts_with('-'); }
  [[nodiscard]] bool takes_file() const;
};

struct DescribedCommand {
  std::string name, summary, examples;
  std::vector<DescribedOption> options;
};
DescribedCommand described(Command& command);

// The text of `treesample COMMAND --help`: with the options that most users need, or with all.
std::string help_text(const DescribedCommand& command, bool has_all);
// The page in the language of man(1).
std::string man_page(const std::vector<DescribedCommand>& commands);
// A script for the shell: bash, zsh or fish.
std::string completion_script(const std::string& shell, const std::vector<DescribedCommand>& commands);

}  // namespace treesample::cli
