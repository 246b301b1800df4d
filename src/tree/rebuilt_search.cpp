#include "treesample/tree/rebuilt_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stopwatch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/tree/compiled_value.hpp"

namespace treesample {
namespace {

constexpr double kLowestLogValue = 100.0;  // nats
constexpr int kMostFailures = 2;           // rounds in a row that bring no improvement

class Rebuilding {
 public:
  Rebuilding(const FactorGraph& graph, const SearchSpace& space, const Limits& limits,
             const RebuiltSearchOptions& options, const Observer& observer)
      : graph_(graph),
        space_(space),
        limits_(limits),
        options_(options),
        judging_(Spending{graph.num_variables(), graph.num_factors()}.times(options.num_judged)),
        observer_(observer) {
    if (observer.progress) {
      observer_.progress = [this, tell = observer.progress](Progress now) {
        now.spent += spent_;
        tell(now);
      };
    }
  }

  RebuiltSearchResult run(const LeafValues& leaves) {
    build(leaves);
    const bool can_judge = has_left(judging_.in(limits_.unit), 0.0);
    if (is_full() && is_possible() && can_judge && graph_.has_only_tables()) improve(leaves);
    TreeSearchReport report = now_->report;
    report.spent = spent_;
    report.seconds = clock_.seconds();
    return {std::move(now_->approximation), report, std::move(trees_), best_};
  }

 private:
  [[nodiscard]] bool is_full() const { return now_->report.stop == StopReason::kMemory; }
  // False for a tree that gives mass to nothing: it has no samples by which to judge it or compile it.
  [[nodiscard]] bool is_possible() const { return now_->approximation.log_z() != kNegInf; }

  // Builds a tree with the rest of the limits, minus what is kept back.
  void build(const LeafValues& leaves, const Spending& kept = {}) {
    const bool is_first = trees_.empty();
    TreeSearchOptions tree = options_.tree;
    if (!is_first) {
      tree.c *= options_.later_c;
      tree.bonus = BonusScale::kLogStates;
    }
    Limits left = limits_;
    left.seconds = std::max(0.0, left.seconds - clock_.seconds());
    Spending taken = spent_;
    taken += kept;
    if (left.budget != Limits::kUnlimited) left.budget -= static_cast<std::int64_t>(std::ceil(taken.in(left.unit)));
    now_.reset();  // frees its memory for the next tree
    now_.emplace(tree_sample(graph_, space_, leaves, left, tree, observer_));
    spent_ += now_->report.spent;
  }

  // Compiles and rebuilds until this no longer pays. At the end the best tree is in memory.
  void improve(const LeafValues& first) {
    std::vector<LeafValues> recipes = {first};
    judge();
    int num_failures = 0;
    const double build_seconds = clock_.seconds();
    while (num_failures < kMostFailures && has_left(2.0 * trees_[0].spent.in(limits_.unit), 2.0 * build_seconds)) {
      const auto round = static_cast<std::uint64_t>(trees_.size());
      recipes.push_back({.estimate = compile_tree(now_->approximation, graph_, space_, options_.num_samples,
                                                  options_.tree.seed + round)});
      build(recipes.back(), judging_);
      judge();
      const bool is_better = trees_.back().elbo > trees_[best_].elbo;
      if (is_better) best_ = static_cast<int>(round);
      num_failures = is_better ? 0 : num_failures + 1;
      if (!is_full() || !is_possible()) break;
    }
    const int last = static_cast<int>(trees_.size()) - 1;
    const bool can_go_on = is_full() || now_->report.stop == StopReason::kBudget;
    if (best_ != last && can_go_on && has_left(trees_[best_].spent.in(limits_.unit), build_seconds)) {
      build_again(recipes[best_]);
    } else {
      best_ = last;
    }
  }

  // Builds the same tree as before: memory limit and options are the same.
  void build_again(const LeafValues& leaves) {
    std::vector<RebuiltTree> trees = best_ == 0 ? std::exchange(trees_, {}) : trees_;
    build(leaves);
    trees_ = std::move(trees);
  }

  [[nodiscard]] bool has_left(double budget, double seconds_needed) const {
    if (clock_.seconds() + seconds_needed > limits_.seconds) return false;
    return limits_.budget == Limits::kUnlimited ||
           spent_.in(limits_.unit) + budget <= static_cast<double>(limits_.budget);
  }

  void judge() {
    if (!is_possible()) {
      trees_.push_back({.elbo = kNegInf, .spent = now_->report.spent});
      return;
    }
    Random random(options_.tree.seed, "judge");
    const TreeApproximation::SampleBatch batch = now_->approximation.sample_batch(options_.num_judged, random);
    const auto width = static_cast<std::size_t>(graph_.num_variables());
    const double floor = now_->approximation.log_z() - kLowestLogValue;
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < batch.log_probs.size(); ++i) {
      const double log_density = graph_.log_density(std::span(batch.states).subspan(i * width, width));
      const double log_weight = std::max(log_density - batch.log_probs[i], floor);
      sum += log_weight;
      squares += log_weight * log_weight;
    }
    const auto count = static_cast<double>(batch.log_probs.size());
    RebuiltTree tree{.elbo = sum / count};
    tree.error = std::sqrt(std::max(0.0, squares / count - tree.elbo * tree.elbo) / std::max(1.0, count - 1.0));
    spent_ += judging_;
    tree.spent = now_->report.spent;
    tree.spent += judging_;
    trees_.push_back(tree);
  }

  const FactorGraph& graph_;
  const SearchSpace& space_;
  const Limits limits_;
  const RebuiltSearchOptions options_;
  const Spending judging_;  // cost of judging one tree
  Observer observer_;
  const Stopwatch clock_;
  std::optional<TreeSearchResult> now_;
  std::vector<RebuiltTree> trees_;
  Spending spent_;
  int best_ = 0;
};

}  // namespace

void RebuiltSearchOptions::validate() const {
  tree.validate();
  check_argument(later_c >= 0.0 && std::isfinite(later_c), "RebuiltSearchOptions", "later_c must be at least 0");
  check_range("RebuiltSearchOptions", "num_samples", num_samples, 1, 1 << 24);
  check_range("RebuiltSearchOptions", "num_judged", num_judged, 2, 1 << 24);
}

RebuiltSearchResult rebuilt_search(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves,
                                   const Limits& limits, const RebuiltSearchOptions& options,
                                   const Observer& observer) {
  options.validate();
  return Rebuilding(graph, space, limits, options, observer).run(leaves);
}

}  // namespace treesample
