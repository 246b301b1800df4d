#include "treesample/exact/barren_marginals.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "exact/elimination_plan.hpp"
#include "treesample/error.hpp"
#include "treesample/reduce/summed_model.hpp"

namespace treesample {
namespace {

constexpr int kTriedOrders = 4;  // of each model: most are looked at only to see that they are too large

class BarrenMarginals {
 public:
  BarrenMarginals(const FactorGraph& graph, Marginals& known, double most_work, const Limits& limits,
                  const EliminationOptions& options, const Observer& observer)
      : graph_(graph), known_(known), left_(most_work), limits_(limits), options_(options), observer_(observer) {
    options_.goal = EliminationGoal::kMarginals;
    options_.restarts = kTriedOrders;
    options_.may_slice = false;
    options_.progress = {};
  }

  // Variables of networks mostly come after their ancestors: the second half goes first, and finds many of the first.
  void add(std::span<const int> targets) {
    std::vector<int> wanted(targets.begin(), targets.end());
    std::erase_if(wanted, [&](int v) { return !known_[v].empty(); });
    if (wanted.empty() || add_together(wanted) || wanted.size() == 1) return;
    const std::span<const int> all(wanted);
    add(all.subspan(wanted.size() / 2));
    add(all.first(wanted.size() / 2));
  }

  [[nodiscard]] double width() const { return width_; }

 private:
  // Tables of ones keep the targets from being summed out, and so their ancestors.
  bool add_together(const std::vector<int>& targets) {
    FactorGraph asked = graph_;
    for (const int v : targets) {
      asked.add_table({v}, std::vector<double>(static_cast<std::size_t>(graph_.num_states(v)), 0.0));
    }
    const SummedModel part(asked);
    options_.most_entries = left_ / num_passes(options_.goal);
    EliminationPlan plan = plan_elimination(part.graph(), options_, observer_.should_stop);
    if (!plan.is_possible() || plan.marginal_bytes > static_cast<double>(limits_.bytes)) return false;
    left_ -= num_passes(options_.goal) * plan.num_entries;
    const Elimination elimination(part.graph(), std::move(plan), limits_, options_, observer_);
    const Marginals found = part.marginals(elimination.marginals());
    for (std::size_t v = 0; v < found.size(); ++v) {
      if (known_[v].empty()) known_[v] = found[v];
    }
    width_ = std::max(width_, elimination.bounds().width() + 2.0 * part.log_slack());
    return true;
  }

  const FactorGraph& graph_;
  Marginals& known_;
  double left_;  // of the work
  const Limits limits_;
  EliminationOptions options_;
  const Observer& observer_;
  double width_ = 0.0;
};

}  // namespace

double add_barren_marginals(const FactorGraph& graph, Marginals& known, double most_work, const Limits& limits,
                            const EliminationOptions& options, const Observer& observer) {
  std::vector<int> missing;
  for (std::size_t v = 0; v < known.size(); ++v) {
    if (known[v].empty()) missing.push_back(static_cast<int>(v));
  }
  BarrenMarginals marginals(graph, known, most_work, limits, options, observer);
  try {
    marginals.add(missing);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
  }
  return marginals.width();
}

}  // namespace treesample
