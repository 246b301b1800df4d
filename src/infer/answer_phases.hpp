// What is asked beyond the answer of a method: the rows that follow it, for the model as it was given.
#pragma once

#include <memory>
#include <vector>

#include "infer/run.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

class MostProbableStates;

// An answer that is complete but for these rows.
struct Asking {
  Answer& answer;
  const Model& model;
  const InferRequest& request;
  const Run& run;                                   // the whole run
  std::shared_ptr<MostProbableStates> finder = {};  // what several rows share; made by the first of them
};

struct AnswerPhase {
  const char* name;
  double begin;  // as a share of the time: where the row is asked for, the method ends here
  bool (*is_asked)(const Model& model, const InferRequest& request);
  void (*run)(Asking& asking);
};

// The share of the time that is left to the method.
double share_of_method(const Model& model, const InferRequest& request);
// The rows that a plan shows after those of the method.
std::vector<PlannedPhase> planned_answer_phases(const Model& model, const InferRequest& request, double seconds);
// Whether Z is the probability of the evidence, and what contradicts itself where it is 0.
void judge_evidence(Answer& answer, const Model& model, const Run& run);
// Adds them to the plan of the answer, with the times when they were run.
void run_answer_phases(Answer& answer, const Model& model, const InferRequest& request, const Run& run);

}  // namespace treesample
