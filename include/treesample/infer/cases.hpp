// Many cases of evidence on one model: work that does not depend on the evidence is done once.
#pragma once

#include <functional>
#include <span>

#include "treesample/infer/infer.hpp"
#include "treesample/io/evidence_file.hpp"

namespace treesample {

// Every case is asked the same question, with its evidence added to that of the model, and is handed over as soon as it
// is answered. A time limit is for all cases together: each may take its share of what is left, and once it is over, a
// remark says how many cases were answered. Throws as infer() does, with the label of the case in the message;
// observer.should_stop ends it after the current case.
void infer_cases(const Model& model, std::span<const Case> cases, const Question& question, const Limits& limits,
                 const InferOptions& options, const Observer& observer,
                 const std::function<void(const Case&, const Answer&)>& take);

}  // namespace treesample
