// Fields of an answer that do not grow with the model, as JSON values.
#pragma once

#include <nlohmann/json.hpp>

#include "treesample/page/answer_json.hpp"

namespace treesample {

// The parts of the model that were removed before the method saw it.
nlohmann::ordered_json simplified_json(const Answer& answer);
nlohmann::ordered_json log_z_json(const Answer& answer);
nlohmann::ordered_json programs_json(const Answer& answer);
nlohmann::ordered_json options_json(const Answer& answer, const AnswerSource& source);

}  // namespace treesample
