#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "treesample/io/model_file.hpp"
#include "treesample/page/answer_page.hpp"

namespace treesample {
namespace {

using Json = nlohmann::json;

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t number = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++number;
  return number;
}

// What stands in the element of data.
std::string data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

TEST(Page, NoTextEndsAnElementOrBeginsOne) {
  const std::string plain = page_of("title", "{}");
  for (const std::string text : {"</script><script>alert(1)</script>", "<!--<script>", "</title><img src=x>", "]]>",
                                 "{{data}}", "{{title}}", "a&amp;b", "</SCRIPT >"}) {
    const std::string json = Json({{"kind", "answer"}, {"name", text}}).dump();
    const std::string page = page_of(text, json);
    EXPECT_EQ(count(page, "<script"), count(plain, "<script")) << text;
    EXPECT_EQ(count(page, "</script"), count(plain, "</script")) << text;
    EXPECT_EQ(count(page, "<img"), 0U) << text;
    EXPECT_EQ(data_of(page).find('<'), std::string::npos) << text;
    EXPECT_EQ(Json::parse(data_of(page)), Json::parse(json)) << text;
  }
}

TEST(Page, LineBreaksOfScriptsAreEscaped) {
  const std::string json =
      "{\"name\":\"a\xe2\x80\xa8"
      "b\xe2\x80\xa9"
      "c\xe2\x80\xaa\"}";
  const std::string data = data_of(page_of("", json));
  EXPECT_NE(data.find("a\\u2028b\\u2029c\xe2\x80\xaa"), std::string::npos) << data;
  EXPECT_EQ(Json::parse(data), Json::parse(json));
}

TEST(Page, NothingIsFetched) {
  const std::string page = page_of("", "{}");
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* const word : {"src=", "@import", "fetch(", "XMLHttpRequest", "import(", "https://"}) {
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
}

TEST(Page, TheDataAreTheAnswersOwnJson) {
  Model clinic(read_model(TREESAMPLE_SOURCE_DIR "/examples/models/asia.bif"));
  clinic.observe("xray", "yes");
  const Answer answer = infer(clinic, {.sensitivity = "lung=yes", .samples = 30});
  const AnswerSource source{"asia.bif", {{"journal", ""}}};
  const Json data = Json::parse(data_of(answer_page(answer, clinic, source, {{0.5, 3, {-3.0, -1.0}, -2.0}})));
  Json expected = Json::parse(answer_json(answer, clinic, source));
  EXPECT_EQ(data["num_samples"], 30);
  EXPECT_EQ(data["answer"]["samples"].size(), 20U);
  EXPECT_TRUE(data["answer"]["sensitivity"]["derivatives"].is_null());
  expected["samples"] = data["answer"]["samples"];
  expected["sensitivity"]["derivatives"] = Json();
  EXPECT_EQ(data["answer"], expected);
  EXPECT_EQ(data["trace"], Json::parse("[[0.5, 3, -3.0, -1.0, -2.0]]"));
  EXPECT_EQ(data["graph"]["is_network"], true);
  EXPECT_EQ(data["graph"]["scopes"].size(), 8U);
  EXPECT_EQ(data["graph"]["scopes"][0], Json::parse("[0]"));
}

}  // namespace
}  // namespace treesample
