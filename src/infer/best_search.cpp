#include "infer/best_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "infer/policy.hpp"
#include "optimize/cost_search.hpp"
#include "optimize/local_search.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"

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
      if (!is_over()) eliminate_within(num_steps);
      if (!is_over() && !has_buckets_ && is_time_for_buckets(num_steps)) add_buckets();
      steps = std::min(steps * policy::kProofGrowth, policy::kLongestProofSteps);
    }
    return found();
  }

 private:
  bool begin_proof() {
    if (local_.best().x.empty()) return false;
    make_proof(local_.best(), /*goes_by_steps=*/true);
    return true;
  }

  void make_proof(const Configuration& known, bool goes_by_steps) {
    proof_.emplace(graph_, known,
                   CostSearch::Options{.seed = request_.seed,
                                       .bytes = request_.bytes / 4,
                                       .threads = request_.threads,
                                       .goes_by_steps = goes_by_steps,
                                       .should_stop = request_.should_stop});
  }

  [[nodiscard]] bool is_over() const {
    return proof_->is_done() || is_proved_ || (request_.should_stop && request_.should_stop());
  }
  [[nodiscard]] double log_upper() const { return std::min(log_upper_, proof_->log_upper()); }
  [[nodiscard]] BestFound found() const { return {proof_->best(), log_upper()}; }

  // A bound, and a configuration, that were found in another way.
  void learn(const Assignment& x, double log_upper) {
    log_upper_ = std::min(log_upper_, log_upper);
    local_.offer(x);
    proof_->offer({x, graph_.log_density(x)});
    is_proved_ = log_upper_ - proof_->best().log_density <= policy::kProved;
  }

  void turn(double steps) {
    proof_->run(static_cast<std::int64_t>(steps), request_.should_stop);
    if (proof_->is_done() && proof_->is_by_steps() && log_upper() - proof_->best().log_density > policy::kProved) {
      // Steps of costs that are so only nearly: what they left out may be better by a little.
      const Configuration known = proof_->best();
      log_upper_ = log_upper();
      make_proof(known, /*goes_by_steps=*/false);
    }
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

  // Once it takes no longer than the search did. Orders get better, and elimination may fit, as more work is worth it.
  void eliminate_within(double num_steps) {
    if (num_steps < steps_to_plan_) return;
    steps_to_plan_ = policy::kPlanGrowth * num_steps;
    EliminationOptions options{.goal = EliminationGoal::kSamples, .order_work = policy::kPlanWork * num_steps};
    options.seed = request_.seed + static_cast<std::uint64_t>(num_plans_++);
    const auto plan = unless_given_up([&] { return plan_elimination(graph_, options, request_.should_stop); });
    Limits limits;
    limits.bytes = request_.bytes / 2;
    limits.threads = request_.threads;
    if (!plan || policy::kStepsOfEntry * plan->num_entries > num_steps ||
        plan->sample_bytes > static_cast<double>(limits.bytes))
      return;
    const auto found =
        unless_given_up([&] { return most_probable(graph_, limits, *plan, {.should_stop = request_.should_stop}); });
    steps_to_plan_ = HUGE_VAL;
    if (found && *found) learn((*found)->configuration.x, (*found)->log_upper);
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
    learn(by_buckets->best.front().states, by_buckets->log_upper);
  }

  const FactorGraph& graph_;
  const Run& run_;
  const BestRequest& request_;
  LocalSearch local_;
  std::optional<CostSearch> proof_;
  double log_upper_ = HUGE_VAL;
  double steps_to_plan_ = policy::kFirstPlanSteps;  // of the proof, until elimination is planned again
  int num_plans_ = 0;
  bool has_buckets_ = false, is_proved_ = false;
};

// Possible configurations around a good one, each with one state changed, then two, ...: as many as are wanted, or as
// can be had for some work.
std::vector<Configuration> around(const FactorGraph& graph, const Configuration& center, std::size_t count) {
  constexpr std::size_t kTries = 200;
  std::vector<Configuration> found{center};
  std::set<Assignment> seen{center.x};
  std::size_t tries = kTries + 4 * count;
  for (std::size_t i = 0; i < found.size() && found.size() < count; ++i) {
    Assignment x = found[i].x;
    for (int v = 0; v < graph.num_variables() && found.size() < count; ++v) {
      const int before = x[v];
      for (int s = 0; s < graph.num_states(v) && found.size() < count && tries > 0; ++s) {
        x[v] = s;
        if (!seen.insert(x).second) continue;
        --tries;
        const double log_density = graph.log_density(x);
        if (log_density != kNegInf) found.push_back({x, log_density});
      }
      x[v] = before;
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Configuration& a, const Configuration& b) { return a.log_density > b.log_density; });
  return found;
}

}  // namespace

std::optional<SeveralFound> search_several(const FactorGraph& graph, const BestRequest& request, int k,
                                           double most_steps) {
  const auto search = [&]() -> std::optional<SeveralFound> {
    LocalSearch local(graph, {request.seed, request.threads, request.bytes / 4, request.should_stop}, request.first,
                      request.should_stop);
    local.run(policy::kFirstLocalEntries, request.should_stop);
    if (local.best().x.empty()) return {};
    const std::vector<Configuration> known = around(graph, local.best(), static_cast<std::size_t>(k));
    if (std::ssize(known) < k) return {};
    CostSearch proof(graph, known,
                     {.seed = request.seed,
                      .bytes = request.bytes / 4,
                      .threads = request.threads,
                      .num_best = k,
                      .should_stop = request.should_stop});
    proof.run(static_cast<std::int64_t>(most_steps), request.should_stop);
    return SeveralFound{proof.all_best(), proof.log_upper(), proof.is_done()};
  };
  return unless_given_up(search).value_or(std::nullopt);
}

BestFound search_best(const FactorGraph& graph, const Run& run, const BestRequest& request) {
  return Turns(graph, run, request).take();
}

}  // namespace treesample
