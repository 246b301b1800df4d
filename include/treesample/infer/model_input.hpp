// A model from a file, with what was observed: the same call for C++, Python and the program.
//
//   const treesample::ModelInput input = treesample::read_input("model.uai");  // and model.uai.evid, if it exists
//   const treesample::Answer answer = treesample::infer(input.model, {}, {.seconds = 20});
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/infer/infer.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample {

struct ModelText {
  std::string contents;
  std::string extension;  // of its format, such as ".uai"
};

struct InputOptions {
  // Files (docs/evidence.md) and observations such as "NAME=STATE". Without any, the file beside the model is read if
  // there is one: grid.uai.evid or grid.evid beside grid.uai.
  std::vector<std::string> evidence = {};
  // A model file with the same variables, whose tables are over single variables: the model is multiplied by them.
  std::string weights_file = {};
  // Where the caller has read the model already: the name of the file is then for messages and for its evidence.
  std::optional<ModelText> text = {};
  // Programs that compute factors (.json) run with the user's rights. This makes the set that runs them, such as an
  // OracleSet (oracle/oracle_set.hpp), and throws where they may not run; without it, a model with programs is refused.
  std::function<std::shared_ptr<ProgramSet>(const JsonModel&)> open_programs = {};
};

struct ModelInput {
  Model model;
  std::string model_file;
  std::string evidence_file = {};          // the first one; empty when there is none
  std::vector<std::string> warnings = {};  // ModelFile::warnings

  // What was observed, by name.
  [[nodiscard]] std::string evidence_text() const;
  // What remains of the model after the evidence. Throws what condition() throws, naming the file.
  [[nodiscard]] ReducedModel conditioned() const;
};

// The extension of the name tells the format: those of read_model (io/model_file.hpp), or .circuit. Throws Error naming
// the file, what `open_programs` throws, and OptionError for observations that the model does not know.
ModelInput read_input(const std::string& model_file, const InputOptions& options = {});

}  // namespace treesample
