// An answer as a JSON value, for its file and for its page.
#pragma once

#include <nlohmann/json.hpp>

#include "treesample/page/answer_json.hpp"

namespace treesample {

// How much it contains of data that grow with the model or the run.
enum class Detail {
  kAll,
  kForPeople,  // without derivatives by all entries, and with some of the samples
};
nlohmann::ordered_json answer_object(const Answer& answer, const Model& model, const AnswerSource& source,
                                     Detail detail = Detail::kAll);

// Infinite numbers as texts. Throws Error (kNumeric) for NaN.
nlohmann::ordered_json json_number(double value);

}  // namespace treesample
