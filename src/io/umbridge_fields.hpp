// The fields of a program description that make it a UM-Bridge server.
#pragma once

#include <nlohmann/json.hpp>

#include "io/json_fields.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample {

// Reads the fields; `variables` are those of the model. Throws Error (kParse) naming the place.
UmBridgeDescription parse_umbridge(const JsonField& program, const std::vector<Variable>& variables);
// Throws kParse if a program that is not such a server has one of these fields.
void refuse_umbridge_fields(const JsonField& program);
// The inverse of parse_umbridge: adds the fields to those of a program.
void add_umbridge_fields(nlohmann::json& program, const UmBridgeDescription& server,
                         const std::vector<Variable>& variables);
// All fields except the address as one text: everything that the values depend on.
std::string umbridge_text(const UmBridgeDescription& server, const std::vector<Variable>& variables);

// Inputs that are not given become the states of the scope. Throws kParse if inputs and scope do not match.
void complete_umbridge(JsonModel& model);

}  // namespace treesample
