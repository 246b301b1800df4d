// The model that a command works on: a file, with its evidence.
#pragma once

#include <string>

#include "treesample/model/evidence.hpp"
#include "treesample/model/search_space.hpp"

namespace treesample::cli {

struct ModelInput {
  FactorGraph original;
  Evidence evidence;
  std::string evidence_file;  // empty when there is none
  ConditionedModel model;     // what remains after the evidence
};

// Reads MODEL and the evidence: the given file, else MODEL.evid when it exists.
ModelInput read_input(const std::string& model_file, const std::string& evidence_file);

// Words of the command line; they throw Error (kArgument) for any other.
OrderKind parse_order(const std::string& word);
SpaceKind parse_space(const std::string& word);
inline const std::vector<std::string> kOrderWords = {"given", "degree", "min-fill", "min-width"};
inline const std::vector<std::string> kSpaceWords = {"tree", "graph", "andor"};

}  // namespace treesample::cli
