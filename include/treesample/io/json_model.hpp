// Models as JSON: variables with named states, tables, clauses, and factors computed by a program.
//
//   { "variables": [ {"name": "pump", "states": ["ok", "failed"]}, {"name": "load", "states": 3} ],
//     "programs":  { "simulator": {"command": ["python3", "simulator.py"], "timeout_seconds": 10} },
//     "factors":   [ {"scope": ["pump"], "values": [0.9, 0.1]},
//                    {"scope": ["pump", "load"], "log_values": [0, -1, "-inf", 0, 0, -2]},
//                    {"scope": ["pump", "load"], "clause": ["ok", {"not": 2}]},
//                    {"name": "likelihood", "scope": ["pump", "load"], "program": "simulator"} ] }
//
// docs/model_file.md documents every field. The functions here read and check the description. src/oracle makes a model
// from it that calls the programs.
//
// Readers throw Error: kParse as "file:line: ..." for text that is not JSON and as "file: factors[3].scope[1]: ..." for
// everything else, kIo, kResource.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/io/umbridge.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// What becomes of an evaluation that still fails after all repetitions, or still has an invalid value (NaN, +inf,
// beyond model/log_value.hpp).
struct FailureRule {
  enum class Kind {
    kStop,        // no value: the search ends with the answer so far
    kImpossible,  // the value is -inf
    kSkip,        // the value is -inf too, but the answer says that these configurations were left out of the model
    kValue,       // the value is `log_value`
  };
  Kind kind = Kind::kStop;
  double log_value = 0.0;

  // Where it does not stop the search.
  [[nodiscard]] double counts_as() const {
    return kind == Kind::kValue ? log_value : -std::numeric_limits<double>::infinity();
  }
};

// The share of the evaluations by one program or function that may fail, checked from the 20th evaluation on. More
// failures than this end the run: they suggest a mistake in the program rather than a property of the model.
inline constexpr double kMaxFailureShare = 0.2;

struct ProgramDescription {
  std::string name;
  std::vector<std::string> command;  // program and arguments; runs in the folder of the model file
  // A file of Python functions, one for each factor and named like it; src/oracle has the program that calls them.
  // `command` is then the interpreter and the file.
  std::string python = {};
  std::string interpreter = {};  // used for `python` instead of python3
  // A server instead of a program; `command` then holds everything that its values depend on.
  std::optional<UmBridgeDescription> umbridge = {};
  std::vector<std::string> files = {};  // further files on which its values depend
  double timeout_seconds = 60.0;        // for one evaluation; a batch of n gets n times as long
  double start_timeout_seconds = 60.0;  // until the program says that it is ready
  int max_retries = 2;                  // repetitions of one evaluation, after a crash, a hang or a bad answer
  int max_batch = 1;                    // largest number of assignments in one request
  FailureRule on_failure = {};          // what to do after the last retry
  double max_failure_share = kMaxFailureShare;
};

struct FactorDescription {
  std::string name = {};                   // may be empty for a table; unique otherwise
  std::vector<int> scope;                  // indices of variables
  std::vector<double> log_values = {};     // of a table: row-major, last variable fastest
  std::vector<ClauseLiteral> clause = {};  // of a clause, one literal for each variable of the scope
  int program = -1;                        // index in `programs`, or -1 for a table
  std::optional<double> log_max = {};      // declared upper bound of a program's values
  std::optional<double> cost = {};         // declared seconds of one evaluation by a program
  std::vector<Direction> directions = {};  // of a program declared monotone, one per variable of the scope

  // True for tables and clauses, as Factor::is_table().
  [[nodiscard]] bool is_table() const { return program < 0; }
  // The factor without its program, if it is no function.
  [[nodiscard]] Factor table(const std::vector<Variable>& variables) const;
};

struct JsonModel {
  std::string source_name;             // the name of the file in messages
  std::filesystem::path folder = ".";  // where the programs run
  std::vector<Variable> variables;
  std::vector<ProgramDescription> programs;
  std::vector<FactorDescription> factors;
};

inline constexpr double kMaxProgramSeconds = 1e6;
// The limit for a file, because parsed JSON takes up to twenty times the memory of its text.
inline constexpr std::int64_t kMaxJsonModelBytes = std::int64_t{1} << 27;

JsonModel read_json_model(const std::filesystem::path& path);
// `source_name` is the name of the file in messages; `folder` is left at its default, the current folder.
JsonModel parse_json_model(std::string_view text, std::string_view source_name);

// The inverse: text that parse_json_model reads back as the same description, to the bit.
std::string format_json_model(const JsonModel& model);
// The description of a model that consists of tables. Variables without a name get "x0", "x1", ... Throws kArgument for
// a function factor and if two variables have the same name.
JsonModel describe_tables(const FactorGraph& graph, std::string_view source_name);

// The model, if all factors are tables. Otherwise throws kArgument naming the first one that is not.
FactorGraph table_model(const JsonModel& model);
FactorGraph parse_json_tables(std::string_view text, std::string_view source_name);

}  // namespace treesample
