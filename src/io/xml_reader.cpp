#include "xml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace treesample {
namespace {

constexpr std::string_view kXmlBlanks = " \t\r\n";

constexpr std::pair<std::string_view, char> kEntities[] = {
    {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int num_more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const std::uint32_t lead = num_more == 1 ? 0xC0U : num_more == 2 ? 0xE0U : 0xF0U;
  text += static_cast<char>(lead | (code >> (6U * static_cast<unsigned>(num_more))));
  for (int i = num_more; i-- > 0;) {
    text += static_cast<char>(0x80U | ((code >> (6U * static_cast<unsigned>(i))) & 0x3FU));
  }
}

// The code of &#65; or &#x41;. Returns 0, which occurs in no text, for anything else.
std::uint32_t numbered(std::string_view entity) {
  const bool is_hex = entity.starts_with("#x");
  const std::string_view digits = entity.substr(is_hex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
  const bool is_whole = error == std::errc() && rest == digits.data() + digits.size();
  return is_whole && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF) ? code : 0;
}

}  // namespace

std::string xml_attribute(const XmlEvent& opened, std::string_view name) {
  const std::string_view text = opened.attributes;
  for (std::size_t at = 0; (at = text.find_first_not_of(kXmlBlanks, at)) != std::string_view::npos;) {
    const std::size_t mark = text.find('=', at);
    const std::size_t open = mark == std::string_view::npos ? mark : text.find_first_of("\"'", mark);
    const std::size_t close = open == std::string_view::npos ? open : text.find(text[open], open + 1);
    if (close == std::string_view::npos) break;
    const std::string_view found = text.substr(at, text.find_first_of(" \t\r\n=", at) - at);
    if (std::equal(found.begin(), found.end(), name.begin(), name.end(),
                   [](char a, char b) { return upper(a) == upper(b); })) {
      return std::string(text.substr(open + 1, close - open - 1));
    }
    at = close + 1;
  }
  return {};
}

std::string XmlReader::resolved(std::size_t begin, std::size_t end) const {
  constexpr std::size_t kLongestEntity = 10;
  const std::string_view text = source_.text;
  std::string result;
  for (std::size_t at = begin; at < end; ++at) {
    if (text[at] != '&') {
      result += text[at];
      continue;
    }
    const std::size_t stop = text.substr(0, std::min(end, at + kLongestEntity)).find(';', at);
    const std::string_view entity = stop == std::string_view::npos ? "" : text.substr(at + 1, stop - at - 1);
    const auto known = std::find_if(std::begin(kEntities), std::end(kEntities),
                                    [&](const auto& pair) { return pair.first == entity; });
    const std::uint32_t code = entity.starts_with('#') ? numbered(entity) : 0;
    if (known != std::end(kEntities)) {
      result += known->second;
    } else if (code != 0) {
      append_utf8(result, code);
    } else {
      fail(at, "'&' begins an unknown entity, allowed are &lt; &gt; &amp; &quot; &apos; and &#NUMBER;");
    }
    at = stop;
  }
  return result;
}

// Skips <? ... ?>, <!-- ... --> and <!DOCTYPE ... [ ... ]>.
bool XmlReader::skip_markup() {
  const std::string_view rest = source_.text.substr(at_);
  const auto skip_to = [&](std::string_view end, std::string_view what) {
    const std::size_t found = rest.find(end, 2);
    if (found == std::string_view::npos) fail(at_, fmt::format("{} is not closed, expected '{}'", what, end));
    at_ += found + end.size();
    return true;
  };
  if (rest.starts_with("<?")) return skip_to("?>", "the instruction");
  if (rest.starts_with("<!--")) return skip_to("-->", "the comment");
  if (!rest.starts_with("<!DOCTYPE")) return false;
  const std::size_t bracket = rest.find_first_of("[>");
  const bool has_subset = bracket != std::string_view::npos && rest[bracket] == '[';
  if (!has_subset) return skip_to(">", "the document type");
  const std::size_t subset = rest.find(']', bracket);
  const std::size_t end = subset == std::string_view::npos ? subset : rest.find('>', subset);
  if (end == std::string_view::npos) fail(at_, "the document type is not closed, expected ']>'");
  at_ += end + 1;
  return true;
}

XmlEvent XmlReader::tag() {
  const std::string_view text = source_.text;
  const std::size_t begin = at_;
  std::size_t end = begin + 1;
  for (char quote = 0; end < text.size() && (quote != 0 || text[end] != '>'); ++end) {
    if (quote == 0 && text[end] == '<') fail(begin, "the tag is not closed, expected '>'");
    if (quote != 0 && text[end] == quote) {
      quote = 0;
    } else if (quote == 0 && (text[end] == '"' || text[end] == '\'')) {
      quote = text[end];
    }
  }
  if (end >= text.size()) fail(begin, "the tag is not closed, expected '>'");
  at_ = end + 1;
  const bool is_close = text[begin + 1] == '/';
  const bool is_empty = !is_close && text[end - 1] == '/';
  const std::size_t first = begin + (is_close ? 2 : 1);
  const std::size_t last = std::min(text.find_first_of(" \t\r\n/>", first), end);
  XmlEvent event{is_close ? XmlEvent::Kind::kClose : XmlEvent::Kind::kOpen,
                 std::string(text.substr(first, last - first)), begin};
  for (char& c : event.text) c = upper(c);
  if (!is_close) event.attributes = text.substr(last, end - last);
  if (event.text.empty()) fail(begin, "'<' begins no element");
  if (is_empty) closing_ = event.text;
  return event;
}

XmlEvent XmlReader::next() {
  if (!closing_.empty()) return {XmlEvent::Kind::kClose, std::exchange(closing_, ""), at_};
  const std::string_view text = source_.text;
  while (at_ < text.size()) {
    if (text[at_] == '<') {
      if (skip_markup()) continue;
      if (text.substr(at_).starts_with("<!")) fail(at_, "'<!' begins something that these files have not");
      return tag();
    }
    const std::size_t begin = at_;
    at_ = std::min(text.find('<', at_), text.size());
    const std::size_t first = text.find_first_not_of(kXmlBlanks, begin);
    if (first >= at_) continue;
    const std::size_t last = text.find_last_not_of(kXmlBlanks, at_ - 1);
    return {XmlEvent::Kind::kText, resolved(first, last + 1), first};
  }
  return {XmlEvent::Kind::kEnd, "", text.size()};
}

void XmlReader::skip(const XmlEvent& opened) {
  int depth = 1;
  while (depth > 0) {
    const XmlEvent event = next();
    if (event.kind == XmlEvent::Kind::kEnd) fail(opened.offset, fmt::format("<{}> is not closed", opened.text));
    depth += event.kind == XmlEvent::Kind::kOpen ? 1 : event.kind == XmlEvent::Kind::kClose ? -1 : 0;
  }
}

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto known =
        std::find_if(std::begin(kEntities), std::end(kEntities), [&](const auto& pair) { return pair.second == c; });
    if (known != std::end(kEntities)) {
      result += fmt::format("&{};", known->first);
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace treesample
