#include <fmt/format.h>

#include "described.hpp"

namespace treesample::cli {
namespace {

// The text escaped for roff: no line begins a request, and backslashes and dashes are literal.
std::string roff(const std::string& text) {
  std::string result;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    is_line_start = c == '\n';
  }
  return result;
}

std::string option_page(const DescribedOption& option) {
  const std::string meta =
      option.is_positional() || option.meta.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.meta));
  const std::string initial = option.initial.empty() ? "" : fmt::format(" Default: {}.", roff(option.initial));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}.{}\n", roff(option.name), meta, roff(option.help), initial);
}

}  // namespace

std::string man_page(const std::vector<DescribedCommand>& commands) {
  std::string page =
      ".TH TREESAMPLE 1 \"\" \"treesample " TREESAMPLE_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\ntreesample \\- inference in discrete distributions under a budget\n"
      ".SH SYNOPSIS\n\\fBtreesample\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\nAnswers questions about unnormalised discrete distributions, and says how far the answers can "
      "be trusted.\n.SH COMMANDS\n";
  for (const DescribedCommand& command : commands) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}.\n", roff(command.name), roff(command.summary));
  }
  for (const DescribedCommand& command : commands) {
    std::string title = command.name;
    for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    page += fmt::format(".SH TREESAMPLE {}\n{}.\n", title, roff(command.summary));
    std::string section;
    for (const DescribedOption& option : command.options) {
      if (!option.is_positional() && option.section != section) {
        section = option.section;
        page += fmt::format(".SS {}\n", roff(section));
      }
      page += option_page(option);
    }
    page += fmt::format(".SS Examples\n.nf\n{}\n.fi\n", roff(command.examples));
  }
  return page +
         ".SH EXIT STATUS\n0 when done; 64 for a wrong command line, 65 for a file that does not follow its format, "
         "66 for one that cannot be read, 69 for limits that are not enough, 74 for output that cannot be "
         "written, 77 without consent to run programs, 128 plus the signal when interrupted.\n";
}

}  // namespace treesample::cli
