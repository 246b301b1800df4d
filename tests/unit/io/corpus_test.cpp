// The fuzz corpus and seeded mutations of it, replayed without a fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/input_checks.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

namespace fs = std::filesystem;
using Check = void (*)(std::string_view);

constexpr int kMutations = 4000;

std::vector<std::string> corpus(const std::string& name) {
  const fs::path tests = fs::path(TREESAMPLE_SOURCE_DIR) / "tests";
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(tests / "fuzz" / "corpus" / name)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const fs::path& path : paths) texts.push_back(read_file(path));
  return texts;
}

// A few random edits: bytes changed, pieces removed, doubled or taken from another input, telling tokens put in.
std::string mutated(std::string text, const std::vector<std::string>& others, Random& random) {
  static const std::vector<std::string> kTokens = {"0",      "1",     "-1",      "2147483648", "99999999999999999999",
                                                   "1e-400", "1e400", "nan",     "{",          "}",
                                                   "(",      ")",     ";",       "|",          "\"",
                                                   "/*",     "//",    "default", "table",      "property",
                                                   " "};
  const auto any_of = [&](const auto& list) { return list[random.below(list.size())]; };
  const std::uint64_t num_edits = 1 + random.below(4);
  for (std::uint64_t edit = 0; edit < num_edits; ++edit) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = random.below(12);
    switch (random.below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, any_of(kTokens));
        break;
      case 4:
        text.replace(at, length, any_of(kTokens) + " ");
        break;
      default: {
        const std::string other = any_of(others);
        text = text.substr(0, at) + other.substr(random.below(other.size() + 1));
      }
    }
  }
  return text;
}

void replay(const std::string& name, Check check) {
  const std::vector<std::string> texts = corpus(name);
  ASSERT_GE(texts.size(), 5U) << name;
  for (const std::string& text : texts) ASSERT_NO_THROW(check(text)) << text;
  Random random(11, name);
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutated(texts[static_cast<std::size_t>(i) % texts.size()], texts, random);
    ASSERT_NO_THROW(check(text)) << text;
  }
}

TEST(FuzzCorpus, UaiInputIsReadOrRefused) { replay("uai", testing::check_uai_input); }
TEST(FuzzCorpus, DimacsInputIsReadOrRefused) { replay("dimacs", testing::check_dimacs_input); }
TEST(FuzzCorpus, UaiEvidenceInputIsReadOrRefused) { replay("uai_evidence", testing::check_uai_evidence_input); }
TEST(FuzzCorpus, BifInputIsReadOrRefused) { replay("bif", testing::check_bif_input); }
TEST(FuzzCorpus, XmlBifInputIsReadOrRefused) { replay("xmlbif", testing::check_xmlbif_input); }
TEST(FuzzCorpus, XdslInputIsReadOrRefused) { replay("xdsl", testing::check_xdsl_input); }
TEST(FuzzCorpus, NetInputIsReadOrRefused) { replay("net", testing::check_net_input); }
TEST(FuzzCorpus, DscInputIsReadOrRefused) { replay("dsc", testing::check_dsc_input); }
TEST(FuzzCorpus, FgInputIsReadOrRefused) { replay("fg", testing::check_fg_input); }
TEST(FuzzCorpus, WcspInputIsReadOrRefused) { replay("wcsp", testing::check_wcsp_input); }
TEST(FuzzCorpus, CfnInputIsReadOrRefused) { replay("cfn", testing::check_cfn_input); }
TEST(FuzzCorpus, WcnfInputIsReadOrRefused) { replay("wcnf", testing::check_wcnf_input); }
TEST(FuzzCorpus, EvidenceInputIsReadOrRefused) { replay("evidence", testing::check_evidence_input); }
TEST(FuzzCorpus, SafetensorsInputIsReadOrRefused) { replay("safetensors", testing::check_safetensors_input); }
TEST(FuzzCorpus, CircuitInputIsReadOrRefused) { replay("circuit", testing::check_circuit_input); }
TEST(FuzzCorpus, JsonModelInputIsReadOrRefused) { replay("json_model", testing::check_json_model_input); }
TEST(FuzzCorpus, ProgramAnswerIsReadOrRefused) { replay("program_answer", testing::check_program_answer_input); }

}  // namespace
}  // namespace treesample
