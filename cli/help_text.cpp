#include <fmt/format.h>

#include <algorithm>

#include "described.hpp"

namespace treesample::cli {
namespace {

constexpr std::size_t kColumns = 100, kIndent = 26;

// Breaks the text into lines of at most kColumns. All lines except the first are indented.
std::string wrapped(const std::string& text, std::size_t column) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t length = end - at;
    if (column > kIndent && column + length > kColumns) {
      while (result.ends_with(' ')) result.pop_back();
      result += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    }
    result += text.substr(at, length);
    column += length;
    if (end < text.size() && column < kColumns) {
      result += ' ';
      ++column;
    }
    at = end + 1;
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

// If there are many words, they are listed below the option.
std::string option_text(const DescribedOption& option) {
  constexpr std::size_t kLongestMeta = 24;
  const bool is_long = option.meta.size() > kLongestMeta && !option.words.empty();
  const std::string meta = option.is_positional() || option.meta.empty() ? "" : is_long ? " WORD" : " " + option.meta;
  std::string head = "  " + option.name + meta;
  std::string help = option.help;
  if (is_long) {
    std::string words = option.meta;
    std::replace(words.begin(), words.end(), '|', ' ');
    help += fmt::format(". One of: {}", words);
  }
  if (!option.initial.empty()) help += fmt::format(" [{}]", option.initial);
  if (head.size() + 1 >= kIndent) return head + "\n" + std::string(kIndent, ' ') + wrapped(help, kIndent) + "\n";
  head.resize(kIndent, ' ');
  return head + wrapped(help, kIndent) + "\n";
}

}  // namespace

std::string help_text(const DescribedCommand& command, bool has_all) {
  std::string usage = "treesample " + command.name;
  std::vector<std::string> sections;
  std::size_t num_left_out = 0;
  for (const DescribedOption& option : command.options) {
    if (option.is_positional()) usage += option.is_required ? " " + option.name : " [" + option.name + "]";
    if (!has_all && !option.is_common) ++num_left_out;
    if (!has_all && !option.is_common) continue;
    if (std::find(sections.begin(), sections.end(), option.section) == sections.end() && !option.is_positional()) {
      sections.push_back(option.section);
    }
  }
  std::string text = fmt::format("{}\n\nUsage: {} [OPTIONS]\n\n", command.summary, usage);
  for (const DescribedOption& option : command.options) {
    if (option.is_positional()) text += option_text(option);
  }
  for (const std::string& section : sections) {
    text += fmt::format("\n{}:\n", section);
    for (const DescribedOption& option : command.options) {
      const bool is_shown = option.section == section && !option.is_positional() && (has_all || option.is_common);
      if (is_shown) text += option_text(option);
    }
  }
  text += fmt::format("\nExamples:\n{}\n", command.examples);
  if (num_left_out > 0) {
    text += fmt::format("\n{} more options: treesample {} --help-all\n", num_left_out, command.name);
  }
  return text;
}

}  // namespace treesample::cli
