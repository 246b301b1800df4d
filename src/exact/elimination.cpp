#include "treesample/exact/elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <utility>

#include "exact/elimination_cost.hpp"
#include "exact/linear_table.hpp"
#include "exact/slice_file.hpp"
#include "exact/slices.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// `cost`: as it would be without slices.
[[noreturn]] void refuse(const char* function, double bytes, const EliminationCost& cost, std::uint64_t limit) {
  throw Error(
      ErrorCode::kResource,
      fmt::format(
          "{}: elimination needs {:.4g} bytes for its tables (width {}, largest bucket 2^{:.1f} entries), allowed "
          "are {} bytes",
          function, bytes, cost.width, cost.log2_largest_bucket, limit));
}

// From the last removed variable to the first.
Assignment drawn(const EliminationPass& pass, const FactorGraph& graph, const std::vector<int>& order, Random& random) {
  Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
  std::vector<double> weights;
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    weights.resize(static_cast<std::size_t>(graph.num_states(*v)));
    pass.conditional(*v, x, weights);
    x[*v] = random.categorical(weights);
  }
  return x;
}

// The logarithm of the probability with which drawn() returns x.
double log_chance(const EliminationPass& pass, const FactorGraph& graph, const std::vector<int>& order,
                  std::span<const int> x) {
  double sum = 0.0;
  std::vector<double> weights;
  for (const int v : order) {
    weights.resize(static_cast<std::size_t>(graph.num_states(v)));
    pass.conditional(v, x, weights);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    sum += std::min(0.0, std::log(weights[x[v]] / total));
  }
  return sum;
}

}  // namespace

std::shared_ptr<const EliminationPass> eliminate(const FactorGraph& graph, const std::vector<int>& order,
                                                 const PassOptions& options, EntryWatch& watch) {
  const double before = watch.num_done();
  if (auto pass = linear_pass(graph, order, options, watch)) return pass;
  watch.add(before - watch.num_done());
  return log_pass(graph, order, options, watch);
}

struct Elimination::State {
  State(const FactorGraph& model, const Limits& limits, EliminationOptions with, Observer watching)
      : graph(model),
        options(std::move(with)),
        observer(std::move(watching)),
        team(num_threads(limits)),
        pool(std::make_shared<TablePool>(static_cast<double>(limits.bytes))) {
    options.most_bytes = static_cast<double>(limits.bytes);
    options.threads = team.size();
  }

  void open_slice_file();
  void choose_slices();
  [[nodiscard]] bool is_quicker(const EliminationCost& sliced) const;
  // Infinite where no slices fit into the memory.
  [[nodiscard]] EliminationCost sliced_cost(EliminationGoal goal, const std::vector<int>& order) const;
  void run_slices();
  // Slices in which all messages can be kept and, if need be, marginals made.
  [[nodiscard]] Slices slices_for(EliminationGoal goal, const char* function) const;
  [[nodiscard]] Marginals sliced_marginals() const;
  [[nodiscard]] Assignment sliced_sample(Random& random);

  FactorGraph graph;
  EliminationOptions options;
  Observer observer;
  mutable ThreadTeam team;
  std::shared_ptr<TablePool> pool;
  std::optional<SliceFile> slice_file;
  EliminationCost cost;
  bool keeps_messages = false;
  std::shared_ptr<const EliminationPass> pass;  // of the whole model; null where it is in slices
  double log_z = kNegInf;
  LogBounds bounds;

  // Of samples from slices: those of them that are known, and the last one that was drawn from.
  std::mutex mutex;
  std::optional<Slices> sample_slices;
  std::vector<double> log_weights;
  std::optional<std::size_t> last_index;
  Slice last;
};

// What it has goes on as it began.
void Elimination::State::open_slice_file() {
  std::error_code ignored;
  if (options.slice_file.empty() || !std::filesystem::exists(options.slice_file, ignored)) return;
  slice_file.emplace(options.slice_file, graph);
  if (slice_file->is_new()) return;
  options.order = slice_file->order();
  options.slice_variables = slice_file->slice_variables();
}

// Slices are chosen for log Z alone: what else is wanted gets its own. All messages are kept where they fit.
void Elimination::State::choose_slices() {
  EliminationOptions lean = options;
  lean.keep_messages = false;
  if (!options.slice_variables.empty()) {
    cost = elimination_cost(graph, lean, observer.should_stop);
    if (slice_file && cost.bytes > options.most_bytes) {
      refuse("Elimination", cost.bytes, cost, static_cast<std::uint64_t>(options.most_bytes));
    }
    return;
  }
  EliminationOptions whole = options;
  whole.most_bytes = HUGE_VAL;
  cost = elimination_cost(graph, whole, observer.should_stop);
  const bool fits = cost.bytes <= options.most_bytes;
  keeps_messages = options.keep_messages && fits;
  // Samples need the messages of the whole model, if they are wanted at all.
  const bool may_gain = !options.keep_messages || options.goal == EliminationGoal::kMarginals;
  if (options.may_slice && (!fits || may_gain)) {
    lean.order = cost.order;
    lean.goal = EliminationGoal::kLogZ;
    EliminationCost sliced = elimination_cost(graph, lean, observer.should_stop);
    if (std::isfinite(sliced.num_entries) && (!fits || is_quicker(sliced))) {
      keeps_messages = false;
      cost = std::move(sliced);
      return;
    }
  }
  if (!fits) refuse("Elimination", cost.bytes, cost, static_cast<std::uint64_t>(options.most_bytes));
}

// Than the whole model, of which `cost` is that of one slice. Marginals take a pass of their own.
bool Elimination::State::is_quicker(const EliminationCost& sliced) const {
  double work = predicted_work(sliced, EliminationGoal::kLogZ);
  if (options.goal != EliminationGoal::kMarginals) return work < predicted_work(cost, EliminationGoal::kLogZ);
  const EliminationCost for_marginals = sliced_cost(EliminationGoal::kMarginals, cost.order);
  work += predicted_work(for_marginals, EliminationGoal::kMarginals);
  return cost.marginal_bytes > options.most_bytes || work < predicted_work(cost, EliminationGoal::kMarginals);
}

EliminationCost Elimination::State::sliced_cost(EliminationGoal goal, const std::vector<int>& order) const {
  EliminationOptions wanted = options;
  wanted.order = order;
  wanted.slice_variables.clear();
  wanted.keep_messages = true;
  wanted.goal = goal;
  return elimination_cost(graph, wanted, observer.should_stop);
}

void Elimination::State::run_slices() {
  const Slices slices(graph, cost);
  EntryWatch watch(observer, cost.num_entries);
  LogSum sum;
  if (!slice_file && !options.slice_file.empty()) slice_file.emplace(options.slice_file, graph);
  if (slice_file && slice_file->is_new()) slice_file->begin(graph, cost, options.log_slack);
  bool has_all = true;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const SliceRow* const known = slice_file && slice_file->rows().contains(i) ? &slice_file->rows().at(i) : nullptr;
    if (known == nullptr && (i < options.first_slice || i >= options.end_slice)) {
      has_all = false;
      continue;
    }
    watch.check_going_on();
    SliceRow row;
    if (known != nullptr) {
      row = *known;
      watch.add(cost.num_entries / cost.num_slices);
    } else {
      const Slice slice = slices.run(i, {false, &team, pool}, watch);
      row = {slice.log_z, slice.estimate};
      if (slice_file) slice_file->add(i, row);
    }
    sum.add(row.log_z, row.estimate);
    // What is left is not negative.
    watch.set_bounds({sum.bounds().lower, HUGE_VAL});
  }
  slice_file.reset();
  static_cast<void>(watch.is_asked_to_stop());  // tells the sum
  if (!has_all) throw Error(ErrorCode::kInterrupted, "Elimination: other slices are left to others");
  log_z = sum.estimate();
  bounds = sum.bounds();
}

Slices Elimination::State::slices_for(EliminationGoal goal, const char* function) const {
  EliminationCost sliced = sliced_cost(goal, cost.order);
  if (!std::isfinite(sliced.num_entries) || (sliced.num_slices > 1.0 && !options.may_slice)) {
    const EliminationCost whole = elimination_cost(graph, {.order = cost.order});
    refuse(function, goal == EliminationGoal::kMarginals ? whole.marginal_bytes : whole.bytes, whole,
           static_cast<std::uint64_t>(options.most_bytes));
  }
  return {graph, std::move(sliced)};
}

Marginals Elimination::State::sliced_marginals() const {
  const Slices slices = slices_for(EliminationGoal::kMarginals, "Elimination::marginals");
  EntryWatch watch(observer, 2.0 * slices.cost().num_entries);
  double largest = kNegInf;
  Marginals result;
  for (int v = 0; v < graph.num_variables(); ++v) result.emplace_back(graph.num_states(v), 0.0);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    watch.check_going_on();
    const Slice slice = slices.run(i, {true, &team, pool}, watch);
    const double end = watch.num_done() + slices.cost().num_entries / slices.cost().num_slices;
    if (slice.estimate != kNegInf) {
      // Relative to the largest slice so far: log Z comes from other slices, and may differ by more than exponentials
      // allow where factors are huge.
      if (slice.estimate > largest) {
        const double scale = std::exp(largest - slice.estimate);
        for (std::vector<double>& probs : result) {
          for (double& p : probs) p *= scale;
        }
        largest = slice.estimate;
      }
      const double share = std::exp(slice.estimate - largest);
      const Marginals part = slice.model.lift(slice.pass->marginals(watch));
      for (std::size_t v = 0; v < part.size(); ++v) {
        for (std::size_t a = 0; a < part[v].size(); ++a) result[v][a] += share * part[v][a];
      }
    }
    watch.add(std::max(0.0, end - watch.num_done()));
  }
  for (std::vector<double>& probs : result) {
    double total = 0.0;
    for (const double p : probs) total += p;
    for (double& p : probs) p /= total;
  }
  return result;
}

// The first one takes as long as log Z; another slice than that of the last sample takes its share of that. What is
// asked to end leaves nothing behind.
Assignment Elimination::State::sliced_sample(Random& random) {
  const std::scoped_lock lock(mutex);
  if (!sample_slices) {
    const Slices slices = slices_for(EliminationGoal::kSamples, "Elimination::sample");
    EntryWatch watch(observer, slices.cost().num_entries);
    std::vector<double> found;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      found.push_back(slices.run(i, {false, &team, pool}, watch).estimate);
    }
    log_weights = std::move(found);
    sample_slices.emplace(slices);
  }
  std::vector<double> weights(log_weights.size());
  softmax(log_weights, weights);
  const auto index = static_cast<std::size_t>(random.categorical(weights));
  if (last_index != index) {
    last_index.reset();
    last = {};
    EntryWatch watch(observer, sample_slices->cost().num_entries / sample_slices->cost().num_slices);
    last = sample_slices->run(index, {true, &team, pool}, watch);
    last_index = index;
  }
  return last.model.lift(drawn(*last.pass, last.model.graph, last.order, random));
}

Elimination::Elimination(const FactorGraph& graph, const Limits& limits, const EliminationOptions& options,
                         const Observer& observer) {
  limits.validate();
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), "Elimination",
                   fmt::format("factor {} is a function, elimination needs tables", m));
  }
  state_ = std::make_shared<State>(graph, limits, options, observer);
  state_->open_slice_file();
  state_->choose_slices();
  if (state_->cost.num_slices > 1.0) {
    state_->run_slices();
    state_->pool->release();
    return;
  }
  EntryWatch watch(state_->observer, state_->cost.num_entries);
  state_->pass = eliminate(graph, state_->cost.order, {state_->keeps_messages, &state_->team, state_->pool}, watch);
  state_->pool->release();
  state_->log_z = state_->pass->log_z();
  state_->bounds = LogBounds::around(state_->log_z, state_->pass->error());
}

double Elimination::log_z() const { return state_->log_z; }

LogBounds Elimination::bounds() const { return state_->bounds; }

const EliminationCost& Elimination::cost() const { return state_->cost; }

double Elimination::log_prob(std::span<const int> x) const {
  state_->graph.check_assignment(x, "Elimination::log_prob");
  if (log_z() == kNegInf) return kNegInf;
  const double log_density = state_->graph.log_density(x);
  // Where large numbers cancel, little is left of a difference of logarithms.
  if (log_density == kNegInf || bounds().is_exact() || !state_->keeps_messages) {
    return std::min(0.0, log_density - log_z());
  }
  return log_chance(*state_->pass, state_->graph, state_->cost.order, x);
}

void Elimination::conditional(int v, std::span<const int> x, std::span<double> probabilities) const {
  check_argument(state_->keeps_messages, "Elimination::conditional", "needs the option keep_messages, and no slices");
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  if (log_z() != kNegInf) state_->pass->conditional(v, x, probabilities);
}

Assignment Elimination::sample(Random& random) const {
  check_argument(state_->options.keep_messages, "Elimination::sample", "needs the option keep_messages");
  check_argument(log_z() != kNegInf, "Elimination::sample",
                 "the distribution has no configuration with positive probability");
  return state_->keeps_messages ? drawn(*state_->pass, state_->graph, state_->cost.order, random)
                                : state_->sliced_sample(random);
}

Marginals Elimination::marginals() const {
  const State& s = *state_;
  check_argument(s.options.keep_messages, "Elimination::marginals", "needs the option keep_messages");
  if (log_z() == kNegInf) {
    Marginals nothing;
    for (int v = 0; v < s.graph.num_variables(); ++v) nothing.emplace_back(s.graph.num_states(v), 0.0);
    return nothing;
  }
  if (!s.keeps_messages || s.cost.marginal_bytes > s.options.most_bytes) return s.sliced_marginals();
  EntryWatch watch(s.observer, s.cost.num_entries);
  return s.pass->marginals(watch);
}

}  // namespace treesample
