// Foreign text occurs in a page in two places: in the title, and within a script element of data. It must not be able
// to end either of them.
#include <fmt/format.h>

#include "page/page_template.hpp"
#include "treesample/page/answer_page.hpp"

namespace treesample {

std::string escaped_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

namespace {

// The same JSON value with escapes, so that it contains no end of an element, no comment, and no line break that
// scripts recognise but JSON does not.
std::string escaped_json(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<' || c == '>' || c == '&') {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (json.substr(i, 3) == "\xe2\x80\xa8" || json.substr(i, 3) == "\xe2\x80\xa9") {  // U+2028, U+2029
      escaped += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string page_of(std::string_view title, std::string_view json) {
  constexpr std::string_view kTitle = "{{title}}", kData = "{{data}}";
  const std::string_view whole = kPageTemplate;
  const std::size_t title_at = whole.find(kTitle), data_at = whole.find(kData);
  std::string page(whole.substr(0, title_at));
  page += escaped_html(title);
  const std::size_t after_title = title_at + kTitle.size();
  page += whole.substr(after_title, data_at - after_title);
  page += escaped_json(json);
  page += whole.substr(data_at + kData.size());
  return page;
}

}  // namespace treesample
