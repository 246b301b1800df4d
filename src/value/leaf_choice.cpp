#include "treesample/value/leaf_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace treesample {
namespace {

enum class Argument { kNone, kNumber, kFile };

struct Row {
  std::string_view word;
  LeafKind kind;
  Argument argument = Argument::kNone;
};

constexpr std::array kLeafWords = {
    Row{"calibrated", LeafKind::kCalibrated},
    Row{"uniform", LeafKind::kUniform},
    Row{"means", LeafKind::kMeans},
    Row{"elbo", LeafKind::kElbo},
    Row{"maxima", LeafKind::kMaxima},
    Row{"mini-bucket", LeafKind::kMiniBucket},
    Row{"mini-bucket:", LeafKind::kMiniBucket, Argument::kNumber},
    Row{"net:", LeafKind::kNetwork, Argument::kFile},
    Row{"program:", LeafKind::kProgram, Argument::kFile},
};

std::optional<int> parse_i_bound(std::string_view text) {
  int i_bound = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), i_bound);
  const bool is_number = error == std::errc() && rest == text.data() + text.size() && i_bound >= 0;
  return is_number ? std::optional(i_bound) : std::nullopt;
}

}  // namespace

std::optional<LeafChoice> parse_leaf_choice(std::string_view text) {
  for (const Row& row : kLeafWords) {
    LeafChoice choice{.kind = row.kind};
    if (row.argument == Argument::kNone) {
      if (text == row.word) return choice;
      continue;
    }
    if (!text.starts_with(row.word) || text.size() == row.word.size()) continue;
    const std::string_view argument = text.substr(row.word.size());
    if (row.argument == Argument::kNumber) {
      choice.i_bound = parse_i_bound(argument);
      if (!choice.i_bound) return {};
    } else {
      choice.path = argument;
    }
    return choice;
  }
  return {};
}

std::string to_string(const LeafChoice& choice) {
  if (choice.kind == LeafKind::kFunction) return "function";
  const Argument argument = choice.i_bound         ? Argument::kNumber
                            : !choice.path.empty() ? Argument::kFile
                                                   : Argument::kNone;
  const auto* const row = std::ranges::find_if(
      kLeafWords, [&](const Row& known) { return known.kind == choice.kind && known.argument == argument; });
  if (row == kLeafWords.end()) return "";
  if (argument == Argument::kNumber) return fmt::format("{}{}", row->word, *choice.i_bound);
  return fmt::format("{}{}", row->word, choice.path);
}

const std::string& leaf_choice_words() {
  static const std::string words = [] {
    std::string list;
    for (const Row& row : kLeafWords) {
      const char* const argument = row.argument == Argument::kNumber ? "I"
                                   : row.argument == Argument::kFile ? "FILE"
                                                                     : "";
      list += fmt::format("{}{}{}", list.empty() ? "" : "|", row.word, argument);
    }
    return list;
  }();
  return words;
}

}  // namespace treesample
