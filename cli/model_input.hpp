// The model that a command works on: a file, with its evidence.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "program_consent.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample::cli {

struct ModelInput {
  Model model;
  std::string model_file;
  std::string evidence_file;  // the first one; empty when there is none

  // What was observed, by name.
  [[nodiscard]] std::string evidence_text() const;
};

// Declares --evidence, which may be repeated.
void declare_evidence(CommandLine& line, std::vector<std::string>& evidence);

// Reads MODEL and the evidence: files and NAME=STATE if given, otherwise MODEL.evid if it exists. The options are for a
// model whose factors are computed by programs; paid values are kept in the journal, if one is named. Such a model
// needs the user's consent, unless its programs will not be run.
ModelInput read_input(const std::string& model_file, const std::vector<std::string>& evidence,
                      const OracleOptions& options = {}, const ProgramUse& use = {});

// Multiplies it by the tables of another model with the same variables, each over one of them. Throws Error naming the
// file.
void multiply(ModelInput& input, const std::string& weights_file);

// What remains of it after the evidence. Throws what condition() throws, naming the file.
ReducedModel conditioned(const ModelInput& input);

}  // namespace treesample::cli
