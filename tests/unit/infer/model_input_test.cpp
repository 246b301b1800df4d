#include "treesample/infer/model_input.hpp"

#include <cmath>
#include <memory>

#include "support/expect_error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

using testing::message_of;

constexpr const char* kTables = R"({"variables": [{"name": "a", "states": ["no", "yes"]}, {"name": "b", "states": 3}],
                                    "factors": [{"scope": ["a"], "values": [1, 3]}]})";
constexpr const char* kPrograms = R"({"variables": [{"name": "a", "states": 2}],
                                      "programs": {"p": {"command": ["false"]}},
                                      "factors": [{"name": "f", "scope": ["a"], "program": "p"}]})";

class ModelInputTest : public testing::TemporaryFolder {
 protected:
  std::string written(const std::string& name, const std::string& text) {
    write_file_atomically(in_folder(name), text);
    return in_folder(name);
  }
};

TEST_F(ModelInputTest, EvidenceBesideTheModelIsReadInAnyForm) {
  const std::string model = written("m.json", kTables);
  EXPECT_TRUE(read_input(model).model.evidence.empty());
  EXPECT_TRUE(read_input(model).evidence_file.empty());
  const std::string beside = written("m.json.evid", "a yes\nb ~ 1 2 0\n");
  const ModelInput named = read_input(model);
  EXPECT_EQ(named.evidence_text(), "a=yes, b~1,2,0");
  EXPECT_EQ(named.evidence_file, beside);
  written("m.json.evid", "1 1 2");
  EXPECT_EQ(read_input(model).evidence_text(), "b=2");
  // Other tools leave the ending of the model out.
  const std::string short_name = written("m.evid", "a no");
  EXPECT_EQ(read_input(model).evidence_text(), "b=2");
  std::filesystem::remove(beside);
  EXPECT_EQ(read_input(model).evidence_file, short_name);
  EXPECT_EQ(read_input(model).evidence_text(), "a=no");
}

TEST_F(ModelInputTest, GivenEvidenceTakesThePlaceOfThatBesideTheModel) {
  const std::string model = written("m.json", kTables);
  written("m.json.evid", "a yes");
  const std::string other = written("other.txt", "b 1");
  const ModelInput input = read_input(model, {.evidence = {"a=no", other}});
  EXPECT_EQ(input.evidence_text(), "a=no, b=1");
  EXPECT_EQ(input.evidence_file, other);
  EXPECT_EQ(input.conditioned().graph.num_variables(), 0);
  EXPECT_THROW(read_input(model, {.evidence = {"a=maybe"}}), OptionError);
  message_of(ErrorCode::kIo, [&] { read_input(model, {.evidence = {in_folder("none")}}); });
}

TEST_F(ModelInputTest, ProgramsHaveToBeAllowed) {
  const std::string model = written("m.json", kPrograms);
  EXPECT_EQ(message_of(ErrorCode::kArgument, [&] { read_input(model); }),
            model + ": the model runs programs, and nobody allowed it");
  std::string asked;
  const auto open = [&](const JsonModel& described) {
    asked = described.programs.at(0).name;
    return std::make_shared<OracleSet>(described, OracleOptions());
  };
  EXPECT_TRUE(read_input(model, {.open_programs = open}).model.programs);
  EXPECT_EQ(asked, "p");
}

TEST_F(ModelInputTest, WeightsMultiplyTheModel) {
  const std::string model = written("m.json", kTables);
  const std::string weights = written("w.uai", "MARKOV 2 2 3 1 1 0 2 1 5");
  EXPECT_NEAR(*infer(read_input(model, {.weights_file = weights}).model).log_z, std::log((1 + 3 * 5) * 3.0), 1e-12);
  const std::string other = written("o.uai", "MARKOV 2 2 2 1 1 0 2 1 5");
  EXPECT_EQ(message_of(ErrorCode::kParse, [&] { read_input(model, {.weights_file = other}); }),
            other + ": --weights: the variables are not those of the model");
}

TEST_F(ModelInputTest, ErrorsNameTheFile) {
  const std::string missing = in_folder("none.uai");
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { read_input(missing); }),
            missing + ": cannot be read: No such file or directory");
  const std::string text = "MARKOV 1 2 1 1 0 2 1 3";
  EXPECT_NEAR(*infer(read_input("stdin", {.text = ModelText{text, ".uai"}}).model).log_z, std::log(4.0), 1e-12);
  EXPECT_TRUE(message_of(ErrorCode::kParse, [] {
                read_input("stdin", {.text = ModelText{"MARKOV x", ".uai"}});
              }).starts_with("stdin"));
}

}  // namespace
}  // namespace treesample
