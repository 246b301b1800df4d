// A file of Python functions as the program of a model.
#include <gtest/gtest.h>

#include "support/oracle_programs.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {
namespace {

using testing::message_of;

class PythonFunctions : public testing::OracleFolder {
 protected:
  [[nodiscard]] JsonModel model_of(const std::string& functions) const {
    write_file_atomically(in_folder("mine.py"), functions);
    write_file_atomically(in_folder("model.json"), R"({
      "variables": [{"name": "pump", "states": ["ok", "failed"]}, {"name": "load", "states": 3}],
      "programs": {"mine": {"python": "mine.py", "max_retries": 0}},
      "factors": [{"name": "likelihood", "scope": ["load", "pump"], "program": "mine"},
                  {"name": "wear", "scope": ["load"], "program": "mine"}]})");
    return read_json_model(in_folder("model.json"));
  }
  static std::string failure(const JsonModel& model) {
    return message_of(ErrorCode::kIo, [&] {
      OracleSet oracles(model, {});
      static_cast<void>(oracles.graph().log_value(0, std::vector<int>{0, 0}));
    });
  }
};

TEST_F(PythonFunctions, AreCalledWithTheStatesOfTheirVariables) {
  OracleSet oracles(model_of(R"(
print("what is printed goes to the log")
def likelihood(pump, load):
    print(pump, load)
    return -2.5 - load if pump == "failed" else 0
def wear(load):
    return float("-inf") if load == 2 else -load
)"),
                    {.log = in_folder("log")});
  const FactorGraph& graph = oracles.graph();
  EXPECT_EQ(graph.log_value(0, std::vector<int>{0, 1}), 0.0);
  EXPECT_EQ(graph.log_value(0, std::vector<int>{1, 2}), -4.5);
  EXPECT_EQ(graph.log_value(1, std::vector<int>{1, 1}), -1.0);
  EXPECT_EQ(graph.log_value(1, std::vector<int>{0, 2}), kNegInf);
  EXPECT_EQ(oracles.counts()[0].failures, 0);
  EXPECT_EQ(read_file(in_folder("log")), "what is printed goes to the log\nok 1\nfailed 2\n");
}

TEST_F(PythonFunctions, MistakesAreNamed) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(failure(model_of("def wear(load):\n    return 0")), "mine.py has no function 'likelihood'");
  has(failure(model_of("def likelihood(:\n")), "SyntaxError: ");
  has(failure(model_of("import no_such_module")),
      "ModuleNotFoundError: No module named 'no_such_module' (mine.py, line 1)");
  const std::string wear = "def wear(load):\n    return 0\n";
  has(failure(model_of(wear + "def likelihood(pump, load):\n    return 1 / 0")),
      "factor 'likelihood' at load=0, pump=ok failed: it says: ZeroDivisionError: division by zero (mine.py, line 4)");
  has(failure(model_of(wear + "def likelihood(pump, load):\n    pass")), "likelihood() returned None, not a number");
  has(failure(model_of(wear + "def likelihood(pumps, load):\n    return 0")), "unexpected keyword argument 'pump'");
  JsonModel other = model_of(wear);
  write_file_atomically(in_folder("mine.text"), wear);
  other.programs[0].python = "mine.text";
  has(failure(other), "mine.text is no Python file: its name does not end in .py");
}

// Trying again would not help, whatever the model allows.
TEST_F(PythonFunctions, AFileThatCannotBeLoadedIsTriedOnce) {
  JsonModel model = model_of("def likelihood(:\n");
  model.programs[0].max_retries = 5;
  OracleSet oracles(model, {});
  const std::string message = message_of(ErrorCode::kIo, [&] {
    static_cast<void>(oracles.graph().log_value(0, std::vector<int>{0, 0}));
  });
  EXPECT_EQ(message.rfind("program 'mine' cannot be used: SyntaxError: ", 0), 0U) << message;
  EXPECT_EQ(oracles.counts()[0].failures, 1);
}

TEST_F(PythonFunctions, AChangedFileIsRefusedByTheJournal) {
  const OracleOptions options{.journal = in_folder("run.journal")};
  const std::string functions = "def wear(load):\n    return 0\ndef likelihood(pump, load):\n    return 0\n";
  { OracleSet(model_of(functions), options); }
  { OracleSet(model_of(functions), options); }
  const JsonModel changed = model_of(functions + "\n");
  const std::string message = message_of(ErrorCode::kArgument, [&] { OracleSet(changed, options); });
  EXPECT_NE(message.find("changed is: file 'mine.py' of program 'mine';"), std::string::npos) << message;
}

TEST_F(PythonFunctions, AMissingFileIsRefusedAtOnce) {
  JsonModel model = model_of("");
  std::filesystem::remove(in_folder("mine.py"));
  EXPECT_EQ(message_of(ErrorCode::kIo, [&] { OracleSet(model, {}); }),
            in_folder("model.json").string() + ": programs.mine.python: no file 'mine.py' in the folder of the model");
  EXPECT_EQ(parse_json_model(format_json_model(model), "m.json").programs[0].python, "mine.py");
}

}  // namespace
}  // namespace treesample
