// The model that a command works on: a file, with its evidence.
#pragma once

#include <memory>
#include <string>

#include "program_consent.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample::cli {

struct ModelInput {
  std::shared_ptr<OracleSet> oracles;  // null unless factors are computed by programs
  std::string model_file;
  FactorGraph original;
  Evidence evidence;
  std::string evidence_file;  // empty when there is none
  ReducedModel model;         // what remains after the evidence, and after simplify_input()
  SimplifyReport simplified;  // what simplify_input() removed
};

// Reads MODEL and the evidence: the given file, else MODEL.evid when it exists. The options are for a model
// whose factors are computed by programs; it keeps what it paid for in the journal, when one is named. Such a model
// needs the user's consent, unless its programs will not be run.
ModelInput read_input(const std::string& model_file, const std::string& evidence_file,
                      const OracleOptions& options = {}, const ProgramUse& use = {});

// Removes from a model of tables what its zeros rule out. Models with functions stay as they are. `should_stop` ends
// what simplify() does beyond one pass.
void simplify_input(ModelInput& input, const ShouldStop& should_stop = {});

// Words of the command line; they throw Error (kArgument) for any other.
OrderKind parse_order(const std::string& word);
SpaceKind parse_space(const std::string& word);
inline const std::vector<std::string> kOrderWords = {"given", "degree", "min-fill", "min-width"};
inline const std::vector<std::string> kSpaceWords = {"tree", "graph", "andor"};

}  // namespace treesample::cli
