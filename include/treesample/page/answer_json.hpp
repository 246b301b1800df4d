// An answer as JSON; docs/answer_file.md documents every field.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "treesample/infer/answer.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// How the answer was obtained, in addition to what the answer itself contains.
struct AnswerSource {
  std::string model_file;
  std::vector<std::pair<std::string, std::string>> settings = {};  // shown among the options
};

// One JSON object, indented, with a line break at its end. Infinite numbers are the strings "inf" and "-inf".
std::string answer_json(const Answer& answer, const Model& model, const AnswerSource& source);

}  // namespace treesample
