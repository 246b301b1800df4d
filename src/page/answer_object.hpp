// An answer as JSON, for its file and for its page.
#pragma once

#include <nlohmann/json.hpp>

#include "treesample/io/json_writer.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample {

// How much data to include of those that grow with the model or the run.
enum class Detail {
  kAll,
  kForPeople,  // without derivatives with respect to all entries, and with only some of the samples
};
void write_answer(JsonWriter& out, const Answer& answer, const Model& model, const AnswerSource& source, Detail detail);

// A number; infinite numbers become texts. Throws Error (kNumeric) for NaN.
nlohmann::ordered_json json_number(double value);

}  // namespace treesample
