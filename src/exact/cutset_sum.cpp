// Sums over joint states of a cutset, which are eliminated in parallel.
#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "exact/linear_table.hpp"
#include "exact/slices.hpp"
#include "space/num_threads.hpp"
#include "thread_team.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/cutset.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr const char* kCutsetSum = "CutsetSum";
constexpr int kStatesPerThread = 4;  // in a batch; several, so that a slow one keeps few threads waiting

// What each thread has for itself.
struct Worker {
  explicit Worker(double most_bytes) : pool(std::make_shared<TablePool>(most_bytes)) {}

  ThreadTeam alone{1};
  std::shared_ptr<TablePool> pool;
};

struct Mass {
  LogBounds log_z;
  double estimate = kNegInf;
};

}  // namespace

struct CutsetSum::State {
  State(const FactorGraph& model, Cutset with, const Limits& limits)
      : graph(model), cutset(std::move(with)), team(num_threads(limits)) {
    const double each = static_cast<double>(limits.bytes) / team.size();
    for (int i = 0; i < team.size(); ++i) workers.push_back(std::make_unique<Worker>(each));
  }

  using JointState = std::vector<int>;

  [[nodiscard]] JointState joint_state(std::span<const int> x) const {
    JointState states;
    for (const int v : cutset.variables) states.push_back(x[v]);
    return states;
  }
  [[nodiscard]] Mass mass_of(const JointState& states, Worker& worker, const Observer& observer) const;
  // Returns false when it was stopped before all of them were done.
  bool add_batch(std::span<const JointState> batch, const Observer& observer);

  FactorGraph graph;
  Cutset cutset;
  ThreadTeam team;
  std::vector<std::unique_ptr<Worker>> workers;
  std::set<JointState> known;
  LogSum sum;
};

Mass CutsetSum::State::mass_of(const JointState& states, Worker& worker, const Observer& observer) const {
  Evidence fixed;
  for (std::size_t i = 0; i < states.size(); ++i) fixed.push_back({cutset.variables[i], states[i]});
  EntryWatch watch(observer, cutset.rest.num_entries);
  const Slice slice = run_slice(graph, fixed, cutset.rest.order, {false, &worker.alone, worker.pool}, watch);
  return {slice.log_z, slice.estimate};
}

bool CutsetSum::State::add_batch(std::span<const JointState> batch, const Observer& observer) {
  std::vector<std::optional<Mass>> masses(batch.size());
  bool is_ended = false;
  try {
    team.run(
        batch.size(), 1,
        [&](std::size_t first, std::size_t, int worker) {
          const Observer watch{.should_stop = worker == 0 ? observer.should_stop : ShouldStop()};
          masses[first] = mass_of(batch[first], *workers[static_cast<std::size_t>(worker)], watch);
        },
        observer.should_stop);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    is_ended = true;
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!masses[i]) continue;
    known.insert(batch[i]);
    sum.add(masses[i]->log_z, masses[i]->estimate);
  }
  return !is_ended;
}

CutsetSum::CutsetSum(const FactorGraph& graph, Cutset cutset, const Limits& limits) {
  limits.validate();
  check_argument(graph.has_only_tables(), kCutsetSum, "needs a model in which every factor is a table");
  check_argument(
      std::ssize(cutset.rest.order) == graph.num_variables(), kCutsetSum,
      fmt::format("the order has {} variables, the model {}", cutset.rest.order.size(), graph.num_variables()));
  for (const int v : cutset.variables)
    check_range(kCutsetSum, "variable of the cutset", v, 0, graph.num_variables() - 1);
  state_ = std::make_unique<State>(graph, std::move(cutset), limits);
  const double bytes = state_->cutset.rest.log_z_bytes * state_->team.size();
  if (bytes > static_cast<double>(limits.bytes)) {
    throw Error(ErrorCode::kResource, fmt::format("{}: {} threads need {:.4g} bytes for their tables, allowed are {}",
                                                  kCutsetSum, state_->team.size(), bytes, limits.bytes));
  }
}

CutsetSum::~CutsetSum() = default;

const Cutset& CutsetSum::cutset() const { return state_->cutset; }

void CutsetSum::add(std::span<const Assignment> configurations, const Observer& observer) {
  State& s = *state_;
  std::vector<State::JointState> wanted;
  std::set<State::JointState> seen;
  for (const Assignment& x : configurations) {
    s.graph.check_assignment(x, "CutsetSum::add");
    State::JointState states = s.joint_state(x);
    if (s.known.contains(states) || !seen.insert(states).second) continue;
    wanted.push_back(std::move(states));
  }
  const auto step = static_cast<std::size_t>(s.team.size() == 1 ? 1 : kStatesPerThread * s.team.size());
  for (std::size_t first = 0; first < wanted.size(); first += step) {
    const std::size_t count = std::min(step, wanted.size() - first);
    const bool is_whole = s.add_batch({wanted.data() + first, count}, observer);
    if (observer.progress) {
      observer.progress({.phase = "cutset",
                         .log_z = {log_mass().lower, HUGE_VAL},
                         .share_done = static_cast<double>(first + count) / static_cast<double>(wanted.size())});
    }
    if (!is_whole || (observer.should_stop && observer.should_stop())) break;
  }
  for (const std::unique_ptr<Worker>& worker : s.workers) worker->pool->release();
}

std::size_t CutsetSum::size() const { return state_->known.size(); }

bool CutsetSum::holds(std::span<const int> x) const { return state_->known.contains(state_->joint_state(x)); }

LogBounds CutsetSum::log_mass() const { return state_->sum.bounds(); }

double CutsetSum::estimate() const { return state_->sum.estimate(); }

}  // namespace treesample
