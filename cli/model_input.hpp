// The model that a command works on, as its options name it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "command.hpp"
#include "model_text.hpp"
#include "program_consent.hpp"
#include "treesample/infer/model_input.hpp"

namespace treesample::cli {

// Declares --evidence, which may be repeated.
void declare_evidence(CommandLine& line, std::vector<std::string>& evidence);

// The fields of a family, as `--set NAME=NUMBER` gives them.
void add_fields(std::map<std::string, double>& fields, const std::vector<std::string>& settings);

// For read_input(): standard input and packed files are read here, and programs need the user's consent, unless they
// will not be run.
InputOptions input_options(const std::string& model_file, const std::vector<std::string>& evidence,
                           const ProgramUse& use, const OracleOptions& programs = {}, const UnpackLimits& unpack = {});

// After read_input(): prints warnings, and refuses options for programs where there are none.
void check_input(const ModelInput& input, const OracleOptions& programs, bool is_quiet);

}  // namespace treesample::cli
