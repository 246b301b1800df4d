// `infer` for models that are circuits, and for models to be compiled into one.
#pragma once

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// The plan for a circuit, which leaves no choice.
Plan plan_for_circuit(const Model& model, InferRequest request, Run& run);
Answer infer_circuit(const Model& model, const InferRequest& request, const Observer& observer);

// The model is compiled without its evidence, so that the circuit serves for any evidence. A model that cannot be
// compiled is answered in the usual way in the remaining time.
Answer compile_and_answer(const Model& model, const InferRequest& request, const Observer& observer);

}  // namespace treesample
