// The time limit of a run: the one that the request names, or the default.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

// The first of these options that is given, as it is typed.
std::optional<std::string> first_given(const InferRequest& request, std::initializer_list<const char*> names);
// The first option by which the user sets up a search of their own.
std::optional<std::string> option_of_a_search(const InferRequest& request);

// A request that names no time limit gets one here if its model is made of tables, the method is open, and there is no
// budget.
Run begin_run(const Model& model, InferRequest& request, const Observer& observer, const TimeSource& time);

// Says when a search without a budget ends, where the user did not. It gets the default where observations have decided
// all functions of the model, so that nobody has named a limit.
void remark_on_time(Plan& plan, Run& run);

// infer() and plan() by any clock: tests set one.
Answer infer_by(const TimeSource& time, const Model& given, const Question& question = {}, const Limits& limits = {},
                const InferOptions& options = {}, const Observer& observer = {});
Plan plan_by(const TimeSource& time, const Model& model, const Question& question = {}, const Limits& limits = {},
             const InferOptions& options = {}, const Observer& observer = {});

}  // namespace treesample
