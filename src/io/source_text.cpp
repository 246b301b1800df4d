#include "source_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample {

namespace {

bool is_utf16(std::string_view text) { return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"); }

}  // namespace

std::string_view utf8_text(std::string_view text, std::string& storage) {
  if (is_utf16(text) || is_utf8(text)) return text;
  storage.clear();
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) storage += static_cast<char>(0xC0U | (code >> 6U));
    storage += code < 0x80 ? c : static_cast<char>(0x80U | (code & 0x3FU));
  }
  return storage;
}

SourceText source_text(std::string_view text, std::string_view name) {
  if (is_utf16(text)) {
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

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\f\v";
  const std::size_t first = text.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kAround) - first + 1);
}

}  // namespace treesample
