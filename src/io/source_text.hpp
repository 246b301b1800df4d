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

// Throws kParse with "name:line: message" for the line of `offset`. Lines are counted only here, so
// that reading a good file does not pay for them.
[[noreturn]] void throw_parse_error(const SourceText& source, std::size_t offset, std::string_view message);

// A token as messages show it: quoted, at most 40 bytes, unprintable bytes as \xNN. An empty view
// whose data is the end of the text is "the end of the file".
std::string quoted(const SourceText& source, std::string_view token);

}  // namespace treesample
