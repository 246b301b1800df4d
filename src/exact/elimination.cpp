#include "treesample/exact/elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <utility>

#include "exact/elimination_plan.hpp"
#include "exact/linear_table.hpp"
#include "exact/slice_file.hpp"
#include "exact/slice_tasks.hpp"
#include "exact/slices.hpp"
#include "space/num_threads.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// `plan`: as it would be without slices.
[[noreturn]] void refuse(const char* function, double bytes, const EliminationPlan& plan, double limit) {
  throw Error(
      ErrorCode::kResource,
      fmt::format(
          "{}: elimination needs {:.4g} bytes for its tables (width {}, largest bucket 2^{:.1f} entries), allowed "
          "are {} bytes",
          function, bytes, plan.width, plan.log2_largest_bucket, static_cast<std::uint64_t>(limit)));
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

std::shared_ptr<const EliminationPass> eliminate(const FactorGraph& graph, const EliminationPlan& plan,
                                                 const PassOptions& options, EntryWatch& watch) {
  const double before = watch.num_done();
  if (auto pass = linear_pass(graph, plan, options, watch)) return pass;
  watch.add(before - watch.num_done());
  return log_pass(graph, plan, options, watch);
}

struct Elimination::State {
  State(const FactorGraph& model, const Limits& limits, EliminationOptions with, Observer watching, SliceWork slices)
      : graph(model),
        options(std::move(with)),
        work(std::move(slices)),
        observer(std::move(watching)),
        team(num_threads(limits)),
        pool(std::make_shared<TablePool>(static_cast<double>(limits.bytes))) {
    options.most_bytes = static_cast<double>(limits.bytes);
    options.threads = team.size();
  }

  void run();
  bool take_plan_of_file();
  void make_plan();
  void check_memory() const;
  void run_slices();
  void run_slices_elsewhere(EntryWatch& watch);
  [[nodiscard]] const SliceRow* known_row(std::uint64_t slice) const;
  // Slices in which all messages can be kept and, if need be, marginals made.
  [[nodiscard]] Slices slices_for(EliminationGoal goal, const char* function) const;
  [[nodiscard]] Marginals sliced_marginals() const;
  [[nodiscard]] Assignment sliced_sample(Random& random);

  FactorGraph graph;
  EliminationOptions options;
  SliceWork work;
  Observer observer;
  mutable ThreadTeam team;
  std::shared_ptr<TablePool> pool;
  std::optional<SliceFile> slice_file;
  std::map<std::uint64_t, SliceRow> rows_elsewhere;  // that the executor has computed
  EliminationPlan plan;
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

// An elimination that was begun goes on in its own order.
bool Elimination::State::take_plan_of_file() {
  std::error_code ignored;
  if (work.file.empty() || !std::filesystem::exists(work.file, ignored)) return false;
  slice_file.emplace(work.file, graph);
  if (slice_file->is_new()) return false;
  plan = plan_in_order(graph, slice_file->order(), slice_file->slice_variables(), observer.should_stop);
  return true;
}

// Slices are chosen for log Z alone: what else is wanted gets its own.
void Elimination::State::make_plan() {
  EliminationOptions whole = options;
  whole.most_bytes = HUGE_VAL;
  plan = plan_elimination(graph, whole, observer.should_stop);
  if (work.executor) {
    plan = plan_for_workers(graph, std::move(plan), options, work.executor->num_workers(), observer.should_stop);
  }
  if (options.may_slice) plan = plan_log_z(graph, std::move(plan), options, observer.should_stop);
}

void Elimination::State::check_memory() const {
  const bool frees = options.may_slice || plan.num_slices > 1.0 || options.goal == EliminationGoal::kLogZ;
  const double bytes = frees ? plan.log_z_bytes : plan.sample_bytes;
  if (bytes > options.most_bytes) refuse("Elimination", bytes, plan, options.most_bytes);
}

// All messages are kept where they fit, unless marginals have to be made from slices anyway.
void Elimination::State::run() {
  check_memory();
  if (plan.num_slices > 1.0) {
    run_slices();
    pool->release();
    return;
  }
  const bool slices_marginals =
      options.may_slice && options.goal == EliminationGoal::kMarginals && plan.marginal_bytes > options.most_bytes;
  keeps_messages =
      options.goal != EliminationGoal::kLogZ && plan.sample_bytes <= options.most_bytes && !slices_marginals;
  EntryWatch watch(observer, plan.num_entries);
  pass = eliminate(graph, plan, {keeps_messages, &team, pool}, watch);
  pool->release();
  log_z = pass->log_z();
  bounds = LogBounds::around(log_z, pass->error());
}

// All that are wanted and not known, by the executor. A row is kept as soon as it arrives.
void Elimination::State::run_slices_elsewhere(EntryWatch& watch) {
  std::vector<std::uint64_t> wanted;
  for (auto i = work.first; i < std::min(work.end, static_cast<std::uint64_t>(plan.num_slices)); ++i) {
    if (!slice_file || !slice_file->rows().contains(i)) wanted.push_back(i);
  }
  LogSum so_far;
  const auto keep = [&](std::uint64_t i, std::span<const double> values) {
    const SliceRow row{{values[0], values[1]}, values[2]};
    rows_elsewhere.emplace(i, row);
    if (slice_file) slice_file->add(i, row);
    so_far.add(row.log_z, row.estimate);
    watch.set_bounds({so_far.bounds().lower, HUGE_VAL});
  };
  SliceTasks(*work.executor, graph, plan, options.most_bytes).run(kSliceSums, wanted, watch, keep);
}

const SliceRow* Elimination::State::known_row(std::uint64_t slice) const {
  for (const auto* const rows : {&rows_elsewhere, slice_file ? &slice_file->rows() : nullptr}) {
    if (rows == nullptr) continue;
    if (const auto found = rows->find(slice); found != rows->end()) return &found->second;
  }
  return nullptr;
}

void Elimination::State::run_slices() {
  const Slices slices(graph, plan);
  EntryWatch watch(observer, plan.num_entries);
  LogSum sum;
  if (!slice_file && !work.file.empty()) slice_file.emplace(work.file, graph);
  if (slice_file && slice_file->is_new()) slice_file->begin(graph, plan, work.log_slack);
  if (work.executor) run_slices_elsewhere(watch);
  bool has_all = true;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const SliceRow* const known = known_row(i);
    if (known == nullptr && (i < work.first || i >= work.end)) {
      has_all = false;
      continue;
    }
    watch.check_going_on();
    SliceRow row;
    if (known != nullptr) {
      row = *known;
      if (!rows_elsewhere.contains(i)) watch.add(plan.num_entries / plan.num_slices);
    } else {
      const Slice slice = slices.run(i, {false, &team, pool}, watch);
      row = {slice.log_z, slice.estimate};
      if (slice_file) slice_file->add(i, row);
    }
    sum.add(row.log_z, row.estimate);
    if (work.executor) log_weights.push_back(row.estimate);
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
  if (work.executor && plan.bytes_for(goal) <= options.most_bytes) return {graph, plan};
  EliminationOptions wanted = options;
  wanted.goal = goal;
  EliminationPlan whole = plan_in_order(graph, plan.order, {}, observer.should_stop);
  EliminationPlan sliced = plan_slices(graph, whole, wanted, observer.should_stop);
  if (!sliced.is_possible() || (sliced.num_slices > 1.0 && !options.may_slice)) {
    refuse(function, whole.bytes_for(goal), whole, options.most_bytes);
  }
  return {graph, std::move(sliced)};
}

Marginals Elimination::State::sliced_marginals() const {
  const Slices slices = slices_for(EliminationGoal::kMarginals, "Elimination::marginals");
  MarginalSum sum(graph);
  if (work.executor) {
    EntryWatch watch(observer, slices.plan().num_entries);
    std::vector<std::uint64_t> all(slices.size());
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    SliceTasks(*work.executor, graph, slices.plan(), options.most_bytes)
        .run(kSliceMarginals, all, watch, {},
             [&](std::uint64_t, std::span<const double> values) { sum.add(values[0], values.subspan(1)); });
    return sum.marginals();
  }
  EntryWatch watch(observer, 2.0 * slices.plan().num_entries);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    watch.check_going_on();
    const Slice slice = slices.run(i, {true, &team, pool}, watch);
    const double end = watch.num_done() + slices.plan().num_entries / slices.plan().num_slices;
    if (slice.estimate != kNegInf) sum.add(slice.estimate, flat(slice.model.lift(slice.pass->marginals(watch))));
    watch.add(std::max(0.0, end - watch.num_done()));
  }
  return sum.marginals();
}

// The first one takes as long as log Z; another slice than that of the last sample takes its share of that. What is
// asked to end leaves nothing behind.
Assignment Elimination::State::sliced_sample(Random& random) {
  const std::scoped_lock lock(mutex);
  if (!sample_slices) {
    const Slices slices = slices_for(EliminationGoal::kSamples, "Elimination::sample");
    EntryWatch watch(observer, slices.plan().num_entries);
    const bool is_known = slices.plan().slice_variables == plan.slice_variables && log_weights.size() == slices.size();
    std::vector<double> found = is_known ? log_weights : std::vector<double>();
    for (std::size_t i = found.size(); i < slices.size(); ++i) {
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
    EntryWatch watch(observer, sample_slices->plan().num_entries / sample_slices->plan().num_slices);
    last = sample_slices->run(index, {true, &team, pool}, watch);
    last_index = index;
  }
  return last.model.lift(drawn(*last.pass, last.model.graph, last.order, random));
}

namespace {

void check_tables(const FactorGraph& graph, const Limits& limits) {
  limits.validate();
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), "Elimination",
                   fmt::format("factor {} is a function, elimination needs tables", m));
  }
}

}  // namespace

Elimination::Elimination(const FactorGraph& graph, EliminationPlan plan, const Limits& limits,
                         const EliminationOptions& options, const Observer& observer, const SliceWork& slices) {
  check_tables(graph, limits);
  check_argument(
      std::ssize(plan.order) == graph.num_variables(), "Elimination",
      fmt::format("the plan is for {} variables, the model has {}", plan.order.size(), graph.num_variables()));
  state_ = std::make_shared<State>(graph, limits, options, observer, slices);
  if (!state_->take_plan_of_file()) state_->plan = std::move(plan);
  state_->run();
}

Elimination::Elimination(const FactorGraph& graph, const Limits& limits, const EliminationOptions& options,
                         const Observer& observer, const SliceWork& slices) {
  check_tables(graph, limits);
  state_ = std::make_shared<State>(graph, limits, options, observer, slices);
  if (!state_->take_plan_of_file()) state_->make_plan();
  state_->run();
}

double Elimination::log_z() const { return state_->log_z; }

LogBounds Elimination::bounds() const { return state_->bounds; }

const EliminationPlan& Elimination::plan() const { return state_->plan; }

double Elimination::log_prob(std::span<const int> x) const {
  state_->graph.check_assignment(x, "Elimination::log_prob");
  if (log_z() == kNegInf) return kNegInf;
  const double log_density = state_->graph.log_density(x);
  // Where large numbers cancel, little is left of a difference of logarithms.
  if (log_density == kNegInf || bounds().is_exact() || !state_->keeps_messages) {
    return std::min(0.0, log_density - log_z());
  }
  return log_chance(*state_->pass, state_->graph, state_->plan.order, x);
}

void Elimination::conditional(int v, std::span<const int> x, std::span<double> probabilities) const {
  check_argument(state_->keeps_messages, "Elimination::conditional",
                 "needs a goal for which messages are kept, and no slices");
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  if (log_z() != kNegInf) state_->pass->conditional(v, x, probabilities);
}

Assignment Elimination::sample(Random& random) const {
  check_argument(state_->options.goal != EliminationGoal::kLogZ, "Elimination::sample", "the goal is log Z alone");
  check_argument(log_z() != kNegInf, "Elimination::sample",
                 "the distribution has no configuration with positive probability");
  return state_->keeps_messages ? drawn(*state_->pass, state_->graph, state_->plan.order, random)
                                : state_->sliced_sample(random);
}

Marginals Elimination::marginals() const {
  const State& s = *state_;
  check_argument(s.options.goal != EliminationGoal::kLogZ, "Elimination::marginals", "the goal is log Z alone");
  if (log_z() == kNegInf) {
    Marginals nothing;
    for (int v = 0; v < s.graph.num_variables(); ++v) nothing.emplace_back(s.graph.num_states(v), 0.0);
    return nothing;
  }
  if (!s.keeps_messages || s.plan.marginal_bytes > s.options.most_bytes) return s.sliced_marginals();
  EntryWatch watch(s.observer, s.plan.num_entries);
  return s.pass->marginals(watch);
}

}  // namespace treesample
