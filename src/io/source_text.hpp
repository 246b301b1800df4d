// A text that is being parsed, and messages that point into it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace treesample {

struct SourceText {
  std::string_view text;
  std::string_view name;  // the name of the file, for messages
};

// The text itself if it is UTF-8. Otherwise it is taken for Latin-1, in which older networks are written, and `storage`
// gets its UTF-8 form: so two names that differ stay different in JSON.
std::string_view utf8_text(std::string_view text, std::string& storage);

// The text without its byte order mark, with which editors of other systems begin UTF-8. Throws kParse for UTF-16.
SourceText source_text(std::string_view text, std::string_view name);

// Throws kParse with "name:line: message" for the line of `offset`. Lines are counted only here, so that reading a
// correct file does not pay for it.
[[noreturn]] void throw_parse_error(const SourceText& source, std::size_t offset, std::string_view message);

// The text without the blanks around it; ends of lines are none of them, but that of a carriage return is.
std::string_view trimmed(std::string_view text);

// A token in the form in which messages show it: quoted, at most 40 bytes, printable. An empty view whose data is the
// end of the text is shown as "the end of the file".
std::string quoted(const SourceText& source, std::string_view token);

}  // namespace treesample
