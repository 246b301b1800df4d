// A model whose factors are computed by programs or C++ functions, as OracleSet sees it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "oracle/fingerprint.hpp"
#include "oracle/oracle.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample {

struct OracleModel {
  struct FactorSpec {
    std::string name;   // also in the journal
    std::string label;  // in messages
    Factor factor;      // has scope, table, maximum and cost; its function is not used
    int source = -1;
  };
  std::string name;
  std::vector<Variable> variables = {};
  std::vector<FactorSpec> factors = {};
  std::vector<OracleSource> sources = {};
  FingerprintParts parts;
};

// Reads the files of the programs only if their fingerprints are wanted: for a journal, or for workers on other
// machines.
OracleModel make_oracle_model(const JsonModel& json, const std::filesystem::path& log, bool wants_fingerprints);
// The same for programs that run elsewhere and need not exist here; with fingerprints.
OracleModel make_remote_model(const JsonModel& json);
// The functions of a graph, with the rules of the options for their failures.
OracleModel make_oracle_model(const FactorGraph& graph, const std::string& version, const OracleOptions& options);

// "pump, load".
std::string describe_scope(const OracleModel& model, const std::vector<int>& scope);

}  // namespace treesample
