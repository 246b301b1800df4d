// The model that a command works on, given by its options.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "command.hpp"
#include "model_text.hpp"
#include "program_consent.hpp"
#include "treesample/infer/model_input.hpp"
#include "treesample/oracle/oracle_set.hpp"

namespace treesample::cli {

// Declares --evidence, which may be repeated.
void declare_evidence(CommandLine& line, std::vector<std::string>& evidence);

// Adds the fields of a family that `--set NAME=NUMBER` gives.
void add_fields(std::map<std::string, double>& fields, const std::vector<std::string>& settings);

// The bytes of --memory; `otherwise` where it was not given.
std::size_t memory_of(const std::string& text, std::size_t otherwise);
// What unpacking may take of a command's memory and time. The text takes memory in addition to the model itself.
UnpackLimits unpack_limits(std::size_t bytes, ShouldStop should_stop);

// Options for read_input(). Standard input and packed files are read here. Programs need the user's consent, unless
// they will not be run.
InputOptions input_options(const std::string& model_file, const std::vector<std::string>& evidence,
                           const ProgramUse& use, const OracleOptions& programs = {}, const UnpackLimits& unpack = {});

// Call it after read_input(). Prints warnings, and refuses options for programs if the model has none.
void check_input(const ModelInput& input, const OracleOptions& programs, bool is_quiet);

// --map FILE.query asks for the variables of a query file (io/uai.hpp). One that lies beside the model is named in a
// note, and not asked by itself.
void take_query(std::vector<std::string>& map, const std::string& model_file, const FactorGraph& graph, bool is_quiet);

}  // namespace treesample::cli
