// Reads the parts of XML that data files use: elements and text. Comments and declarations are skipped.
#pragma once

#include <string>
#include <string_view>

#include "source_text.hpp"

namespace treesample {

struct XmlEvent {
  enum class Kind { kOpen, kClose, kText, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;             // the name of an element in upper case, or text with its entities resolved
  std::size_t offset = 0;       // in the source
  std::string attributes = {};  // of an opening element, as they are written

  [[nodiscard]] bool opens(std::string_view name) const { return kind == Kind::kOpen && text == name; }
  [[nodiscard]] bool closes(std::string_view name) const { return kind == Kind::kClose && text == name; }
};

// The value of an attribute, whatever the case of its name; empty if there is none.
std::string xml_attribute(const XmlEvent& opened, std::string_view name);

class XmlReader {
 public:
  explicit XmlReader(SourceText source) : source_(source) {}

  // The next event. Blank text between elements is skipped. An element without contents is an opening and a closing
  // event. Throws kParse as "file:line: ...".
  XmlEvent next();
  // Skips everything up to the end of the element that was opened last.
  void skip(const XmlEvent& opened);
  [[noreturn]] void fail(std::size_t offset, std::string_view message) const {
    throw_parse_error(source_, offset, message);
  }
  [[nodiscard]] const SourceText& source() const { return source_; }

 private:
  bool skip_markup();
  XmlEvent tag();
  [[nodiscard]] std::string resolved(std::size_t begin, std::size_t end) const;

  SourceText source_;
  std::size_t at_ = 0;
  std::string closing_;  // the name for the pending closing event of an element without contents
};

// The text with < > & and quotes replaced by entities.
std::string xml_text(std::string_view text);

}  // namespace treesample
