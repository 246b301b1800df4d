// An answer as JSON, for its file and for its page.
#pragma once

#include <nlohmann/json.hpp>

#include "treesample/io/json_writer.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample {

// How much it contains of data that grow with the model or the run.
enum class Detail {
  kAll,
  kForPeople,  // without derivatives by all entries, and with some of the samples
};
void write_answer(JsonWriter& out, const Answer& answer, const Model& model, const AnswerSource& source, Detail detail);

// Infinite numbers as texts. Throws Error (kNumeric) for NaN.
nlohmann::ordered_json json_number(double value);

}  // namespace treesample
