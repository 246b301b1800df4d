// Many cases of evidence on one model: work that does not depend on the evidence is done once.
//
// Where log Z and probabilities are asked of a model of tables whose elimination is quick, cases in which the same
// variables are observed are computed together, on all cores (exact/many_cases.hpp). All others are asked one by one.
#pragma once

#include <functional>
#include <span>

#include "treesample/infer/infer.hpp"
#include "treesample/io/evidence_file.hpp"

namespace treesample {

// Fills in the next case; false after the last one.
using CaseSource = std::function<bool(Case& next)>;
// The answer may be changed and used again after the call. Where there are queries, it may have no other marginals.
using TakeCase = std::function<void(const Case&, const Answer&)>;

// Every case is asked the same question, with its evidence added to that of the model. Cases are read some thousand at
// a time, and handed over in their order as soon as these are answered. A time limit is for all cases together: each
// may take its share of what is left, and once it is over, a remark says how many cases were answered. Throws as
// infer() does, with the label of the case in the message; observer.should_stop ends it.
void infer_cases(const Model& model, const CaseSource& source, const Question& question, const Limits& limits,
                 const InferOptions& options, const Observer& observer, const TakeCase& take);
void infer_cases(const Model& model, std::span<const Case> cases, const Question& question, const Limits& limits,
                 const InferOptions& options, const Observer& observer, const TakeCase& take);

}  // namespace treesample
