#include <fmt/format.h>
#include <fmt/ranges.h>

#include "described.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"

namespace treesample::cli {
namespace {

std::vector<std::string> names_of(const std::vector<DescribedCommand>& commands) {
  std::vector<std::string> names;
  for (const DescribedCommand& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> flags_of(const DescribedCommand& command) {
  std::vector<std::string> flags = {"--help", "--help-all"};
  for (const DescribedOption& option : command.options) {
    if (!option.is_positional()) flags.push_back(option.name);
  }
  return flags;
}

// Puts any text into single quotes.
// Zsh can read the script for bash.
std::string bash_script(const std::vector<DescribedCommand>& commands) {
  std::string script = fmt::format(
      "_treesample() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" words=\"\"\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} help --help --version' -- \"$word\"))\n"
      "    return\n  fi\n"
      "  case \"${{COMP_WORDS[1]}} $before\" in\n",
      fmt::join(names_of(commands), " "));
  for (const DescribedCommand& command : commands) {
    for (const DescribedOption& option : command.options) {
      if (option.words.empty() || option.is_positional()) continue;
      script += fmt::format("    '{} {}') words={} ;;\n", command.name, option.name,
                            shell_quoted(fmt::format("{}", fmt::join(option.words, " "))));
    }
  }
  script += "  esac\n  if [ -z \"$words\" ]; then\n    case \"${COMP_WORDS[1]}\" in\n";
  script += fmt::format("      help) words='{}' ;;\n", fmt::join(names_of(commands), " "));
  for (const DescribedCommand& command : commands) {
    std::vector<std::string> words = flags_of(command);
    for (const DescribedOption& option : command.options) {
      if (option.is_positional()) words.insert(words.end(), option.words.begin(), option.words.end());
    }
    script += fmt::format("      {}) words='{}' ;;\n", command.name, fmt::join(words, " "));
  }
  return script +
         "    esac\n  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  if [ \"${word#-}\" = \"$word\" ]; then COMPREPLY+=($(compgen -f -- \"$word\")); fi\n"
         "}\ncomplete -o filenames -F _treesample treesample\n";
}

std::string fish_script(const std::vector<DescribedCommand>& commands) {
  std::string script;
  const std::string all = fmt::format("{}", fmt::join(names_of(commands), " "));
  for (const DescribedCommand& command : commands) {
    script += fmt::format("complete -c treesample -n 'not __fish_seen_subcommand_from {}' -a {} -d {}\n", all,
                          command.name, shell_quoted(command.summary));
    for (const DescribedOption& option : command.options) {
      if (option.is_positional()) continue;
      script += fmt::format("complete -c treesample -n '__fish_seen_subcommand_from {}' -l {}{}{} -d {}\n",
                            command.name, option.name.substr(2),
                            option.meta.empty()   ? ""
                            : option.takes_file() ? " -r"
                                                  : " -x",
                            option.words.empty() ? "" : fmt::format(" -a '{}'", fmt::join(option.words, " ")),
                            shell_quoted(option.help));
    }
  }
  return script;
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<DescribedCommand>& commands) {
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(commands);
  if (shell == "fish") return fish_script(commands);
  throw_argument("completion", fmt::format("the shell is '{}', allowed are bash, zsh and fish", shell));
}

}  // namespace treesample::cli
