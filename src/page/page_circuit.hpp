// The model as a small circuit in its page: evidence that is clicked there is answered there, without a server.
#pragma once

#include <nlohmann/json.hpp>

#include "treesample/infer/infer.hpp"

namespace treesample {

// Words, constants and weights of a circuit of the model without its evidence (src/count/circuit_shape.hpp), logarithms
// in place of numbers; null where the model has no circuit that a page can hold. What may be spent on it is counted and
// not timed, so that a page depends on its model alone.
nlohmann::ordered_json page_circuit_json(const Answer& answer, const Model& model);

}  // namespace treesample
