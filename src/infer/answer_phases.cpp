#include "infer/answer_phases.hpp"

#include <algorithm>

#include "exact/conflict.hpp"
#include "infer/most_probable.hpp"
#include "infer/option_table.hpp"
#include "infer/policy.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/network.hpp"

namespace treesample {
namespace {

bool always(const Model&, const InferRequest&) { return true; }
bool wants_several(const Model&, const InferRequest& request) { return request.question.k_best > 1; }
bool wants_map(const Model&, const InferRequest& request) { return !request.question.map.empty(); }

void judge_evidence(Asking& asking) { judge_evidence(asking.answer, asking.model, asking.run); }
void answer_further(Asking& asking) { answer_questions(asking.answer, asking.model, asking.request, asking.run); }

// clang-format off
constexpr AnswerPhase kAnswerPhases[] = {
    // name                    begin  is it asked for?      do it
    {"evidence",               1.0,   always,               judge_evidence},
    {"best configurations",    0.4,   wants_several,        find_best_configurations},
    {"marginal MAP",           0.4,   wants_map,            find_marginal_map},
    // After the two others, which may have found a better configuration.
    {"proof of the best",      0.9,   wants_proof,          prove_best},
    {"further questions",      1.0,   always,               answer_further},
};
// clang-format on

}  // namespace

void judge_evidence(Answer& answer, const Model& model, const Run& run) {
  answer.is_evidence_probability =
      !model.evidence.empty() && model.soft_evidence.empty() && check_network(model.graph).is_network();
  const bool is_impossible = answer.log_z == kNegInf && answer.is_exact;
  if (!is_impossible || !model.graph.has_only_tables()) return;
  answer.conflict = conflict_of(model.graph, {model.evidence, model.soft_evidence},
                                run.time_box(policy::kConflictShare, policy::kConflictSeconds));
}

double share_of_method(const Model& model, const InferRequest& request) {
  double share = 1.0;
  for (const AnswerPhase& row : kAnswerPhases) {
    if (row.is_asked(model, request)) share = std::min(share, row.begin);
  }
  return share;
}

std::vector<PlannedPhase> planned_answer_phases(const Model& model, const InferRequest& request, double seconds) {
  std::vector<PlannedPhase> planned;
  for (const AnswerPhase& row : kAnswerPhases) {
    if (row.begin < 1.0 && row.is_asked(model, request)) planned.push_back({row.name, seconds});
  }
  return planned;
}

void run_answer_phases(Answer& answer, const Model& model, const InferRequest& request, const Run& run) {
  Asking asking{answer, model, request, run};
  for (const AnswerPhase& row : kAnswerPhases) {
    if (!row.is_asked(model, request)) continue;
    const double began = run.seconds();
    row.run(asking);
    if (row.begin < 1.0) {
      answer.plan.phases.push_back({row.name, run.time_limit(), nullptr, began, run.seconds()});
    }
  }
}

}  // namespace treesample
