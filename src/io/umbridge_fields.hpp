// The fields of a program that is a UM-Bridge server.
#pragma once

#include <nlohmann/json.hpp>

#include "io/json_fields.hpp"
#include "treesample/io/json_model.hpp"

namespace treesample {

// Reads them; `variables` are those of the model. Throws Error (kParse) naming the place.
UmBridgeDescription parse_umbridge(const JsonField& program, const std::vector<Variable>& variables);
// Throws kParse where a program that is not such a server has one of these fields.
void refuse_umbridge_fields(const JsonField& program);
// The inverse: adds the fields to those of a program.
void add_umbridge_fields(nlohmann::json& program, const UmBridgeDescription& server,
                         const std::vector<Variable>& variables);
// All fields except the address as one text: what the values depend on.
std::string umbridge_text(const UmBridgeDescription& server, const std::vector<Variable>& variables);

// Inputs that are not given are the states of the scope. Throws kParse where inputs and scope do not match.
void complete_umbridge(JsonModel& model);

}  // namespace treesample
