#include "count/count_team.hpp"

#include <algorithm>
#include <atomic>

#include "thread_team.hpp"

namespace treesample {
namespace {

// Of the memory, where there are several threads; half is the first search's, and the last eighth the others'.
constexpr std::uint64_t kSharedPart = 3, kOthersPart = 1, kAllParts = 8;

}  // namespace

CountTeam::CountTeam(CountProblem& problem, const DecompositionGuide& guide, const TeamLimits& limits,
                     const CountOptions& options, ExactCounts& exact)
    : problem_(problem),
      guide_(guide),
      limits_(limits),
      options_(options),
      exact_(exact),
      num_threads_(limits.threads > 0 ? limits.threads : num_cores()) {
  const std::uint64_t own = num_threads_ > 1 ? limits.bytes / 2 : limits.bytes;
  searches_.push_back(std::make_unique<CountSearch>(problem, guide, own, options, &exact));
}

void CountTeam::start_others() {
  const std::uint64_t bytes = limits_.bytes * kOthersPart / kAllParts;
  // Each has clauses and a trail of its own, which should leave most of its memory to its cache.
  constexpr std::uint64_t kTimesFixed = 4;
  const std::uint64_t most = bytes / (kTimesFixed * searches_.front()->fixed_bytes() + 1);
  const int num_others = static_cast<int>(std::min<std::uint64_t>(most, static_cast<std::uint64_t>(num_threads_) - 1));
  if (num_others == 0) return;
  shared_ = std::make_unique<SharedCounts>(limits_.bytes * kSharedPart / kAllParts, exact_);
  for (int i = 0; i < num_others; ++i) {
    other_exact_.push_back(exact_.make_empty());
    searches_.push_back(std::make_unique<CountSearch>(problem_, guide_, bytes / static_cast<std::uint64_t>(num_others),
                                                      options_, other_exact_.back().get()));
  }
  for (std::size_t i = 0; i < searches_.size(); ++i) searches_[i]->share(*shared_, static_cast<int>(i));
}

void CountTeam::run(const ShouldStop& should_stop) {
  CountSearch& first = *searches_.front();
  bool is_asked = false;
  const bool has_others = num_threads_ > 1;
  if (!has_others || limits_.decisions_alone > 0) {
    first.run([&] {
      is_asked = should_stop && should_stop();
      return is_asked || (has_others && first.num_decisions() >= limits_.decisions_alone);
    });
  }
  if (!first.is_solved() && !is_asked && !first.is_out_of_memory() && has_others) {
    start_others();
    std::atomic<bool> is_over = false;
    ThreadTeam team(static_cast<int>(searches_.size()));
    team.run(searches_.size(), 1, [&](std::size_t search, std::size_t, int worker) {
      const bool is_calling = worker == 0;
      searches_[search]->run([&] { return is_over.load() || (is_calling && should_stop && should_stop()); });
      if (is_calling || searches_[search]->is_solved()) is_over = true;
    });
  }
  for (std::size_t i = 0; i < searches_.size() && solver_ < 0; ++i) {
    if (searches_[i]->is_solved()) solver_ = static_cast<int>(i);
  }
}

const ExactCounts& CountTeam::exact() const {
  return solver_ <= 0 ? exact_ : *other_exact_[static_cast<std::size_t>(solver_) - 1];
}

CountBounds CountTeam::bounds() {
  CountBounds best = searches_.front()->bounds();
  for (std::size_t i = 1; i < searches_.size(); ++i) {
    const CountBounds bounds = searches_[i]->bounds();
    if (best.lower.log_bounds().lower < bounds.lower.log_bounds().lower) best.lower = bounds.lower;
    best.upper = smaller(best.upper, bounds.upper);
  }
  return best;
}

void CountTeam::fill(CountReport& report) const {
  for (const auto& search : searches_) search->add_to(report);
  report.share_done = share_done();
  if (shared_ == nullptr) return;
  report.num_evicted += shared_->num_evicted();
  report.peak_bytes += shared_->bytes();
}

}  // namespace treesample
