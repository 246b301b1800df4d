// An answer as JSON, for its file and for its page.
#pragma once

#include <nlohmann/json.hpp>

#include "treesample/io/json_writer.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample {

// How much of what grows with the model or the run is in it.
enum class Detail {
  kAll,
  kForPeople,  // without derivatives by all entries, and with some of the samples
};
void write_answer(JsonWriter& out, const Answer& answer, const Model& model, const AnswerSource& source, Detail detail);

// Infinite numbers as texts. Throws Error (kNumeric) for what is not a number.
nlohmann::ordered_json json_number(double value);

}  // namespace treesample
