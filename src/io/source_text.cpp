#include "source_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample {

SourceText source_text(std::string_view text, std::string_view name) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw_parse_error({text, name}, 0, "the file is UTF-16, allowed is UTF-8");
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return {text, name};
}

void throw_parse_error(const SourceText& source, std::size_t offset, std::string_view message) {
  const std::string_view before = source.text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", source.name, line, message));
}

std::string quoted(const SourceText& source, std::string_view token) {
  constexpr std::size_t kShownBytes = 40;
  if (token.empty() && token.data() == source.text.data() + source.text.size()) return "the end of the file";
  return fmt::format("'{}'", shortened(token, kShownBytes));
}

}  // namespace treesample
