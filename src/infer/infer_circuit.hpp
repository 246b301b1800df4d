// `infer` of models that are circuits, and of models that are to become one.
#pragma once

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// The choice for a circuit: there is none.
Plan plan_for_circuit(const Model& model, InferRequest request, Run& run);
Answer infer_circuit(const Model& model, const InferRequest& request, const Observer& observer);

// The model is compiled without its evidence, so that the circuit serves for any. What cannot be compiled is answered
// in the usual way in the time that is left.
Answer compile_and_answer(const Model& model, const InferRequest& request, const Observer& observer);

}  // namespace treesample
