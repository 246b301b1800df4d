#include "infer/cutset_phase.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "infer/policy.hpp"
#include "space/num_threads.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Weighted samples that only show which joint states are worth their time; estimates of log Z come from other samples.
struct Pilot {
  std::vector<Assignment> samples;
  std::vector<double> weights;  // normalised: they add up to 1
  double log_z = kNegInf;
};

double ess(std::span<const double> log_weights) {
  std::vector<double> probs(log_weights.size());
  softmax(log_weights, probs);
  double squares = 0.0;
  for (const double p : probs) squares += p * p;
  return 1.0 / squares;
}

Pilot draw_pilot(const CutsetTask& asked) {
  const auto num_variables = static_cast<std::size_t>(asked.graph.num_variables());
  const std::size_t most = std::max<std::size_t>(1, policy::kPilotStates / std::max<std::size_t>(1, num_variables));
  const ShouldStop is_over = asked.task.run.time_box(policy::kPilotShare, 0.0);
  Random random(asked.task.seed(), "cutset");
  Pilot pilot;
  Assignment x(num_variables, -1);
  double num_drawn = 0.0;
  const auto is_enough = [&] {
    const std::size_t count = pilot.samples.size();
    return count >= most || (count % policy::kPilotLook == 1 && ess(pilot.weights) >= policy::kPilotEss);
  };
  for (; !is_enough() && !is_over(); ++num_drawn) {
    const double log_prob = asked.upper.sample_into(x, random);
    const double log_density = asked.graph.log_density(x);
    if (log_density == kNegInf) continue;
    pilot.samples.push_back(x);
    pilot.weights.push_back(log_density - log_prob);
  }
  if (pilot.samples.empty()) return pilot;
  pilot.log_z = log_sum_exp(pilot.weights) - std::log(num_drawn);
  const std::vector<double> log_weights = pilot.weights;
  softmax(log_weights, pilot.weights);
  return pilot;
}

Marginals marginals_of(const FactorGraph& graph, const Pilot& pilot) {
  Marginals marginals;
  for (int v = 0; v < graph.num_variables(); ++v) marginals.emplace_back(graph.num_states(v), 0.0);
  for (std::size_t i = 0; i < pilot.samples.size(); ++i) {
    for (std::size_t v = 0; v < marginals.size(); ++v) marginals[v][pilot.samples[i][v]] += pilot.weights[i];
  }
  return marginals;
}

// One configuration per joint state: first the known configurations, then the joint states by descending total weight.
std::vector<Assignment> candidates(const CutsetTask& asked, const Cutset& cutset, const Pilot& pilot) {
  struct Group {
    double weight = 0.0;
    std::size_t first = 0;
  };
  std::map<std::vector<int>, Group> groups;
  std::vector<int> states;
  for (std::size_t i = 0; i < pilot.samples.size(); ++i) {
    states.clear();
    for (const int v : cutset.variables) states.push_back(pilot.samples[i][v]);
    Group& group = groups.try_emplace(states, Group{0.0, i}).first->second;
    group.weight += pilot.weights[i];
  }
  std::vector<Group> best;
  for (const auto& [key, group] : groups) best.push_back(group);
  std::sort(best.begin(), best.end(), [](const Group& a, const Group& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.first < b.first;
  });
  std::vector<Assignment> configurations = asked.known;
  for (const Group& group : best) configurations.push_back(pilot.samples[group.first]);
  return configurations;
}

// The most work for one joint state, such that many of them fit into the time and their tables into the memory.
double most_entries(const Limits& limits, double seconds) {
  const int threads = num_threads(limits);
  const double by_time = seconds * kEntriesPerSecond * threads / policy::kJointStates;
  const double by_memory = static_cast<double>(limits.bytes) / (2.0 * sizeof(double) * threads);
  return std::max(policy::kLeastJointEntries, std::min(by_time, by_memory));
}

// After a few joint states: true if as many as there is time for would improve the lower bound, or cover a part of Z
// that samples then need not estimate.
bool is_worth_it(const CutsetSum& sum, const CutsetTask& asked, double log_z) {
  const double more = std::log(policy::kJointStates / static_cast<double>(sum.size()));
  const double wanted = std::min(asked.lower, log_z + std::log(policy::kLeastKnownShare));
  return sum.estimate() + more > wanted;
}

}  // namespace

std::shared_ptr<const CutsetSum> sum_cutset(const CutsetTask& asked, const PhaseClock& clock) {
  const Run& run = asked.task.run;
  const double seconds = policy::kCutsetOfRest * run.seconds_left();
  const Limits limits = asked.task.limits();
  const Pilot pilot = draw_pilot(asked);
  if (pilot.samples.empty() && asked.known.empty()) return nullptr;
  CutsetOptions options;
  options.most_entries = most_entries(limits, seconds);
  options.seed = asked.task.seed();
  options.threads = num_threads(limits);
  options.should_settle = run.time_box(policy::kCutsetTriesShare, 0.0);
  options.should_stop = run.time_box(policy::kCutsetChoiceShare, 0.0);
  asked.tell({.phase = "cutset", .share_done = 0.0});
  const auto cutset =
      unless_given_up([&] { return choose_cutset(asked.graph, marginals_of(asked.graph, pilot), options); });
  if (!cutset || cutset->rest.log_z_bytes * options.threads > static_cast<double>(limits.bytes)) return nullptr;
  auto sum = std::make_shared<CutsetSum>(asked.graph, *cutset, limits);
  const std::vector<Assignment> wanted = candidates(asked, *cutset, pilot);
  const double end = std::min(run.seconds() + seconds, clock.end());
  const Observer observer{.progress = asked.tell,
                          .should_stop = [&] { return run.is_interrupted() || run.seconds() > end; }};
  const std::span<const Assignment> all(wanted);
  const std::size_t num_first = std::min<std::size_t>(policy::kFirstJointStates, all.size());
  sum->add(all.first(num_first), observer);
  if (sum->size() > 0 && is_worth_it(*sum, asked, pilot.log_z)) sum->add(all.subspan(num_first), observer);
  return sum->size() > 0 ? sum : nullptr;
}

}  // namespace treesample
