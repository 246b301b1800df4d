// A text that is being parsed, and messages that point into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace treesample {

struct SourceText {
  std::string_view text;
  std::string_view name;  // the file, in messages
};

// The text itself. Where it is not UTF-8 it is taken for Latin-1, which older networks are written in, and `storage`
// gets what it is in UTF-8: two names that differ stay different in JSON.
std::string_view utf8_text(std::string_view text, std::string& storage);

// A text without its byte order mark: editors of other systems begin UTF-8 with one. Throws kParse for UTF-16.
SourceText source_text(std::string_view text, std::string_view name);

// Throws kParse with "name:line: message" for the line of `offset`. Lines are counted only here, so that reading a
// correct file does not pay for it.
[[noreturn]] void throw_parse_error(const SourceText& source, std::size_t offset, std::string_view message);

// A token as messages show it: quoted, at most 40 bytes, printable. An empty view
// whose data is the end of the text is "the end of the file".
std::string quoted(const SourceText& source, std::string_view token);

}  // namespace treesample
