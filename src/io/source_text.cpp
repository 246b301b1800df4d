#include "source_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/error.hpp"

namespace treesample {

void throw_parse_error(const SourceText& source, std::size_t offset, std::string_view message) {
  const std::string_view before = source.text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", source.name, line, message));
}

std::string quoted(const SourceText& source, std::string_view token) {
  constexpr std::size_t kShownBytes = 40;
  if (token.empty() && token.data() == source.text.data() + source.text.size()) return "the end of the file";
  std::string shown = "'";
  for (const char c : token.substr(0, kShownBytes)) {
    if (c >= ' ' && c <= '~') {
      shown += c;
    } else {
      shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
  }
  return shown + (token.size() > kShownBytes ? "...'" : "'");
}

}  // namespace treesample
