#include "optimize/proof_board.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

const Configuration& worst_of(const std::vector<Configuration>& known) {
  return *std::min_element(known.begin(), known.end(), [](const Configuration& a, const Configuration& b) {
    return a.log_density < b.log_density;
  });
}

}  // namespace

ProofBoard::ProofBoard(const FactorGraph& graph, const std::vector<Configuration>& known,
                       const CostSearch::Options& options)
    : graph_(graph),
      options_(options),
      tables_(cost_tables(graph, worst_of(known))),
      // What is eliminated has one best state, and not the second best.
      reduction_(tables_, {.eliminates = options.num_best == 1}),
      open_(options.bytes) {
  slack_ = open_gap_ = units(options.tolerance);
  if (tables_.step > 0.0 && options.goes_by_steps) {
    // All that is less than a step better is nothing better.
    const double better = 0.9 * (tables_.step - 2.0 * tables_.step_error - tables_.rounding);
    slack_ = units(std::max(options.tolerance, better));
    open_gap_ = std::min(slack_, units(2.0 * tables_.step_error));
  }
  for (const Configuration& one : known) offer(one.x);
}

Cost ProofBoard::units(double nats) const {
  return std::max<Cost>(1, static_cast<Cost>(std::min(nats * tables_.scale, static_cast<double>(kLargestCost))));
}

void ProofBoard::offer(Assignment x) {
  const Cost cost = tables_.cost(x);
  reduction_.complete(x);
  const double log_density = graph_.log_density(x);
  const std::scoped_lock lock(mutex_);
  const auto most = static_cast<std::size_t>(options_.num_best);
  // Of one that costs as much by rounding alone, the cost tells what need not be looked for any more.
  if (most == 1 && cost < known_cost_ && !best_.empty()) costs_.front() = cost;
  const auto place = std::find_if(best_.begin(), best_.end(),
                                  [&](const Configuration& other) { return other.log_density < log_density; });
  const bool is_known =
      std::any_of(best_.begin(), best_.end(), [&](const Configuration& other) { return other.x == x; });
  const bool is_better = place != best_.end() || best_.size() < most;
  if (is_better && !is_known) {
    costs_.insert(costs_.begin() + (place - best_.begin()), cost);
    best_.insert(place, {std::move(x), log_density});
    if (best_.size() > most) {
      best_.pop_back();
      costs_.pop_back();
    }
  }
  if (best_.size() < most) return;
  const Cost last = *std::max_element(costs_.begin(), costs_.end());
  if (last >= known_cost_) return;
  known_cost_ = last;
  top_.store(std::max<Cost>(0, last - slack_), std::memory_order_relaxed);
}

Assignment ProofBoard::first() {
  const std::scoped_lock lock(mutex_);
  return best_.front().x;
}

std::optional<OpenNodes::Node> ProofBoard::take(const ShouldStop& should_stop) {
  constexpr std::chrono::milliseconds kLook(1);
  std::unique_lock lock(mutex_);
  while (!should_stop()) {
    if (!is_over()) {
      ++num_diving_;
      return open_.pop();
    }
    if (num_diving_ == 0) break;
    has_changed_.wait_for(lock, kLook);
  }
  return {};
}

std::vector<BranchDecision> ProofBoard::decisions(const OpenNodes::Node& node) {
  const std::scoped_lock lock(mutex_);
  return open_.decisions(node.decision);
}

bool ProofBoard::has_room() {
  const std::scoped_lock lock(mutex_);
  return open_.has_room();
}

void ProofBoard::give_back(const OpenNodes::Node& from, std::span<const BranchDecision> path,
                           std::span<const Cost> bounds, std::optional<Cost> end) {
  const std::scoped_lock lock(mutex_);
  open_.push_path(from.decision, path, bounds, end);
  --num_diving_;
  has_changed_.notify_all();
}

Cost ProofBoard::bound() const {
  const Cost of_known = std::max<Cost>(0, known_cost_ - open_gap_);
  return is_over() ? of_known : std::min(of_known, open_.least().bound);
}

}  // namespace treesample
