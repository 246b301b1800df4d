#include "treesample/search/solved_marginals.hpp"

#include <cmath>

#include "search/context_table.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/store/passes.hpp"

namespace treesample {
namespace {

// The sub-problems of one level that are not in the store, with the probability that the sampler reaches them.
struct OffStore {
  ContextTable places;
  std::vector<int> states;  // of the context, one row per sub-problem
  std::vector<double> probs;
};

std::vector<std::vector<int>> contexts_of(const SearchSpace& space) {
  std::vector<std::vector<int>> contexts;
  for (const Level& level : space.levels) contexts.push_back(level.context);
  return contexts;
}

// Visits parents before children, in the store and below it, where equal contexts are merged.
class MarginalPass {
 public:
  MarginalPass(const SearchApproximation& sampler, const SolvedMarginalsOptions& options)
      : view_(sampler.view()),
        space_(sampler.space()),
        options_(options),
        // In `tree` a context is the whole prefix, and an estimate has no sampler below the store.
        goes_below_(space_.kind != SpaceKind::kTree && sampler.kind() == SamplerKind::kUpper),
        contexts_(space_, contexts_of(space_)),
        pass_(view_, StoreView::Read::kWeights),
        off_store_(space_.levels.size()),
        x_(space_.levels.size(), -1),
        marginals_(space_.levels.size()) {
    for (const Level& level : space_.levels) marginals_[level.variable].assign(level.num_states, 0.0);
  }

  std::optional<Marginals> run() {
    for (std::size_t r = 0; r < space_.roots.size(); ++r) {
      if (!arrive(space_.roots[r], view_.root(r), 1.0, {}, 0)) return {};
    }
    const auto visit = [&](int level, std::uint32_t position, double prob, const NodeEdges& edges) {
      return pass_on(level, prob, edges.weights, [&](int action, std::size_t j) {
        const auto at = static_cast<std::size_t>(action) * space_.levels[level].children.size() + j;
        return arrive(space_.levels[level].children[j], edges.children[at], prob * edges.weights[action],
                      contexts_.at(level, position), action);
      });
    };
    if (!pass_.run(visit, [&](int level) { return leave_level(level); })) return {};
    for (std::vector<double>& probs : marginals_) {
      double total = 0.0;
      for (const double p : probs) total += p;
      for (double& p : probs) p /= total;
    }
    return std::move(marginals_);
  }

 private:
  // Adds the probability that passes through a node or a sub-problem of the level; send(action, child) passes it on.
  template <class Send>
  bool pass_on(int level, double prob, std::span<const double> probs, Send send) {
    const Level& here = space_.levels[level];
    for (int a = 0; a < here.num_states; ++a) {
      if (!(probs[a] > 0.0)) continue;
      marginals_[here.variable][a] += prob * probs[a];
      for (std::size_t j = 0; j < here.children.size(); ++j) {
        if (!send(a, j)) return false;
      }
    }
    return is_within_limits();
  }

  // Probability reaches a child level through an edge of a node with this context.
  bool arrive(int level, NodeIndex index, double prob, std::span<const int> parent, int action) {
    if (index != kNoNode) {
      contexts_.make_room(level, pass_.nodes().size(level));
      const bool is_first = pass_.arrive(level, index, prob);
      if (is_first) contexts_.derive(level, parent, action, contexts_.at(level, pass_.nodes().position(index)));
      return true;
    }
    if (!goes_below_) return false;
    context_.resize(space_.levels[level].context.size());
    contexts_.derive(level, parent, action, context_);
    add(level, prob);
    return true;
  }

  // Adds to the sub-problem of the level with the states in context_.
  void add(int level, double prob) {
    OffStore& here = off_store_[level];
    const std::vector<int>& context = space_.levels[level].context;
    for (std::size_t k = 0; k < context.size(); ++k) x_[space_.levels[context[k]].variable] = context_[k];
    if (here.places.is_blank()) here.places = ContextTable(space_, level);
    NodeIndex& found = here.places.find_or_insert(x_);
    if (found == kNoNode) {
      found = static_cast<NodeIndex>(here.probs.size());
      here.probs.push_back(0.0);
      here.states.insert(here.states.end(), context_.begin(), context_.end());
      used_bytes_ += (sizeof(double) + sizeof(int)) * (2 + context.size());
    }
    here.probs[found] += prob;
  }

  bool leave_level(int level) {
    contexts_.forget(level);
    const OffStore off_store = std::move(off_store_[level]);
    const std::size_t width = space_.levels[level].context.size();
    std::vector<double> probs(space_.levels[level].num_states);
    for (std::size_t i = 0; i < off_store.probs.size(); ++i) {
      const std::span<const int> states = std::span(off_store.states).subspan(i * width, width);
      for (std::size_t k = 0; k < width; ++k) {
        x_[space_.levels[space_.levels[level].context[k]].variable] = states[k];
      }
      view_.below(level)->probabilities(level, x_, probs);
      const double prob = off_store.probs[i];
      const auto send = [&](int action, std::size_t j) {
        const int child = space_.levels[level].children[j];
        context_.resize(space_.levels[child].context.size());
        contexts_.derive(child, states, action, context_);
        add(child, prob * probs[action]);
        return true;
      };
      if (prob > 0.0 && !pass_on(level, prob, probs, send)) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_within_limits() {
    if (used_bytes_ > options_.bytes) return false;
    constexpr int kQuestionInterval = 1024;
    return ++num_steps_ % kQuestionInterval != 0 || !options_.should_stop || !options_.should_stop();
  }

  const StoreView& view_;
  const SearchSpace& space_;
  const SolvedMarginalsOptions& options_;
  const bool goes_below_;
  NodeContexts contexts_;
  ReachPass pass_;
  std::vector<OffStore> off_store_;  // by level
  Assignment x_;
  std::vector<int> context_;  // scratch
  Marginals marginals_;
  std::uint64_t used_bytes_ = 0;
  std::int64_t num_steps_ = 0;
};

}  // namespace

std::optional<Marginals> solved_marginals(const SearchResult& result, const SearchApproximation& sampler,
                                          const SolvedMarginalsOptions& options) {
  check_argument(sampler.kind() != SamplerKind::kLower && sampler.is_of(result), "solved_marginals",
                 "needs the sampler by upper bounds, or by estimates, of the same search");
  const double log_z = result.report.log_z.lower;
  if (log_z == kNegInf) return {};
  const bool is_by_estimates = sampler.kind() == SamplerKind::kEstimate;
  const double distance = is_by_estimates ? result.report.log_z.upper - log_z : sampler.log_value() - log_z;
  if (!(-std::expm1(-distance) <= options.tolerance)) return {};
  return MarginalPass(sampler, options).run();
}

}  // namespace treesample
