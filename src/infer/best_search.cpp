#include "infer/best_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "infer/policy.hpp"
#include "optimize/cost_search.hpp"
#include "optimize/local_search.hpp"

namespace treesample {
namespace {

class Turns {
 public:
  Turns(const FactorGraph& graph, const Run& run, const BestRequest& request)
      : graph_(graph),
        run_(run),
        request_(request),
        local_(graph, {request.seed, request.threads, request.bytes / 4, request.should_stop}, request.first,
               request.should_stop) {}

  BestFound take() {
    // What takes time before the first turn ends with what is known by then.
    const auto has_begun = unless_given_up([&] {
      local_.run(policy::kFirstLocalEntries, request_.should_stop);
      return begin_proof();
    });
    if (!has_begun) return {local_.best(), HUGE_VAL};
    if (!*has_begun) return {};
    double steps = policy::kFirstProofSteps, num_steps = 0.0;
    while (!is_over() && (std::isfinite(request_.end) || num_steps < policy::kMostProofSteps)) {
      num_steps += steps;
      turn(steps);
      if (!has_buckets_ && !proof_->is_done() && is_time_for_buckets(num_steps)) add_buckets();
      steps = std::min(steps * policy::kProofGrowth, policy::kLongestProofSteps);
    }
    return found();
  }

 private:
  bool begin_proof() {
    if (local_.best().x.empty()) return false;
    CostSearch::Options options{
        .seed = request_.seed, .bytes = request_.bytes / 4, .should_stop = request_.should_stop};
    proof_.emplace(graph_, local_.best(), options);
    return true;
  }

  [[nodiscard]] bool is_over() const {
    return proof_->is_done() || is_proved_by_buckets_ || (request_.should_stop && request_.should_stop());
  }
  [[nodiscard]] double log_upper() const { return std::min(log_upper_, proof_->log_upper()); }
  [[nodiscard]] BestFound found() const { return {proof_->best(), log_upper()}; }

  void turn(double steps) {
    proof_->run(static_cast<std::int64_t>(steps), request_.should_stop);
    if (proof_->is_done()) return;
    local_.offer(proof_->best().x);
    // As much time for the local search as for the proof, and little once it finds nothing new.
    const bool is_fruitful = local_.entries_in_vain() < policy::kFruitful * local_.num_entries();
    unless_given_up([&] {
      local_.run(steps * (is_fruitful ? policy::kLocalShare : policy::kIdleLocalShare), request_.should_stop);
      return true;
    });
    proof_->offer(local_.best());
    if (request_.tell) request_.tell(proof_->best(), log_upper());
  }

  [[nodiscard]] bool is_time_for_buckets(double num_steps) const {
    if (!std::isfinite(request_.end)) return num_steps >= policy::kProofStepsBeforeBuckets;
    return run_.seconds() - request_.begin >= policy::kBeforeBuckets * (request_.end - request_.begin);
  }

  void add_buckets() {
    has_buckets_ = true;
    const double seconds =
        std::isfinite(request_.end) ? policy::kBucketsShare * (request_.end - run_.seconds()) : policy::kMapSeconds;
    const std::optional<MapResult> by_buckets = request_.by_buckets(proof_->best(), seconds);
    if (!by_buckets || by_buckets->best.empty()) return;
    log_upper_ = std::min(log_upper_, by_buckets->log_upper);
    const Assignment& x = by_buckets->best.front().states;
    local_.offer(x);
    proof_->offer({x, graph_.log_density(x)});
    is_proved_by_buckets_ = log_upper_ - proof_->best().log_density <= policy::kProved;
  }

  const FactorGraph& graph_;
  const Run& run_;
  const BestRequest& request_;
  LocalSearch local_;
  std::optional<CostSearch> proof_;
  double log_upper_ = HUGE_VAL;
  bool has_buckets_ = false, is_proved_by_buckets_ = false;
};

}  // namespace

BestFound search_best(const FactorGraph& graph, const Run& run, const BestRequest& request) {
  return Turns(graph, run, request).take();
}

}  // namespace treesample
