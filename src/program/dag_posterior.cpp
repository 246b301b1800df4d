#include "treesample/program/dag_posterior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample {
namespace {

using Layers = HashedProgram<DagLayers>;

// The probability of each set of parents. A state with the placed nodes S and the last layer T places node v with the
// probability f, and then each set P of parents with the probability f exp(score[v][P]) / sum over such sets. With u
// the first node of T in P this is a term for all P within S less the nodes of T before u that contain u; so the terms
// are added up by v, u and that set first, and handed down to its subsets P in the end.
class ParentSets {
 public:
  explicit ParentSets(const DagLayers& layers)
      : layers_(layers),
        n_(layers.num_nodes()),
        num_sets_(std::size_t{1} << n_),
        terms_(static_cast<std::size_t>(n_ * n_) * num_sets_, kNegInf),
        probabilities_(static_cast<std::size_t>(n_), std::vector<double>(num_sets_)) {}

  // Actions of one state follow each other.
  void add(DagLayers::State state, std::uint32_t layer, double probability) {
    if (state != state_) finish_state();
    state_ = state;
    DagLayers::for_each_node(layer, [&](int v) { placed_now_[static_cast<std::size_t>(v)] += probability; });
  }
  std::vector<std::vector<double>> finish();

 private:
  double* terms(int v, int u) { return terms_.data() + static_cast<std::size_t>(v * n_ + u) * num_sets_; }
  void finish_state();

  const DagLayers& layers_;
  const int n_;
  const std::size_t num_sets_;
  DagLayers::State state_ = 0;
  std::array<double, DagLayers::kMostNodes> placed_now_{};  // the probability that the state places this node
  std::vector<double> terms_;
  std::vector<std::vector<double>> probabilities_;
};

void ParentSets::finish_state() {
  for (int v = 0; v < n_; ++v) {
    const double probability = std::exchange(placed_now_[static_cast<std::size_t>(v)], 0.0);
    if (probability == 0.0) continue;
    std::uint32_t set = DagLayers::placed(state_);
    const std::uint32_t last = DagLayers::last(state_);
    if (last == 0) probabilities_[static_cast<std::size_t>(v)][0] += probability;
    const double term = std::log(probability) - layers_.log_sum(v, set, last);
    DagLayers::for_each_node(last, [&](int u) {
      double& sum = terms(v, u)[set];
      sum = log_add_exp(sum, term);
      set &= ~(1u << u);
    });
  }
}

std::vector<std::vector<double>> ParentSets::finish() {
  finish_state();
  for (int v = 0; v < n_; ++v) {
    for (int u = 0; u < n_; ++u) {
      double* const sums = terms(v, u);
      for (int b = 0; b < n_; ++b) {
        for (std::size_t set = 0; set < num_sets_; ++set) {
          if ((set >> b & 1) == 0) sums[set] = log_add_exp(sums[set], sums[set | std::size_t{1} << b]);
        }
      }
      for (std::size_t set = 0; set < num_sets_; ++set) {
        const double score = layers_.scores()[static_cast<std::size_t>(v)][set];
        const bool is_possible = (set >> u & 1) != 0 && (set >> v & 1) == 0 && sums[set] != kNegInf && score != kNegInf;
        if (is_possible) probabilities_[static_cast<std::size_t>(v)][set] += std::exp(sums[set] + score);
      }
    }
  }
  return std::move(probabilities_);
}

// The parents of each node of a layer, drawn in proportion to their scores.
void draw_parents(const DagLayers& layers, DagLayers::State before, std::uint32_t layer, Random& random, Dag& dag) {
  const std::uint32_t placed = DagLayers::placed(before), last = DagLayers::last(before);
  DagLayers::for_each_node(layer, [&](int v) {
    const std::vector<double>& scores = layers.scores()[static_cast<std::size_t>(v)];
    std::vector<std::uint32_t> sets;
    std::vector<double> weights;
    for (std::uint32_t set = placed;; set = (set - 1) & placed) {
      if ((last == 0 || (set & last) != 0) && scores[set] != kNegInf) {
        sets.push_back(set);
        weights.push_back(scores[set]);
      }
      if (set == 0) break;
    }
    softmax(weights, weights);
    const std::uint32_t parents = sets[static_cast<std::size_t>(random.categorical(weights))];
    dag.parents[static_cast<std::size_t>(v)] = parents;
    dag.log_score += scores[parents];
  });
}

void sample_dags(const Layers& layers, const ProgramDistribution& distribution, const DagQuestion& question,
                 DagPosterior& posterior) {
  Random random(question.seed, "samples");
  for (int i = 0; i < question.samples; ++i) {
    const ProgramPath path = distribution.sample(random);
    Dag dag{std::vector<std::uint32_t>(static_cast<std::size_t>(layers.program().num_nodes()))};
    for (std::size_t step = 0; step < path.actions.size(); ++step) {
      draw_parents(layers.program(), layers.state(path.states[step]), static_cast<std::uint32_t>(path.actions[step]),
                   random, dag);
    }
    dag.log_prob = dag.log_score - posterior.log_z;
    posterior.samples.push_back(std::move(dag));
  }
}

void check_finished(const ProgramAnswer& answer) {
  if (answer.stop == StopReason::kInterrupted) throw Error(ErrorCode::kInterrupted, "dag_posterior: asked to end");
  if (!answer.is_exact) {
    throw Error(ErrorCode::kResource, fmt::format("dag_posterior: the limit of {} does not suffice",
                                                  answer.stop == StopReason::kTime ? "time" : "memory"));
  }
  if (answer.log_z.upper == kNegInf) throw_argument("dag_posterior", "no graph is possible");
}

}  // namespace

DagPosterior dag_posterior(DagScores scores, const DagQuestion& question, const Limits& limits,
                           const Observer& observer) {
  const RunWatch watch(limits, {});
  check_range("dag_posterior", "samples", question.samples, 0, 100'000'000);
  Layers layers{DagLayers(std::move(scores))};
  const DagLayers& program = layers.program();
  const ProgramAnswer answer = infer_program(layers, {.method = ProgramMethod::kExact}, limits, observer);
  check_finished(answer);
  DagPosterior posterior;
  posterior.log_z = *answer.estimate;
  posterior.bounds = answer.log_z.widened(program.rounding());
  posterior.num_states = answer.num_states;
  ParentSets sets(program);
  answer.distribution->for_each_action([&](StateId state, const Transition& t, double probability) {
    sets.add(layers.state(state), static_cast<std::uint32_t>(t.action), probability);
  });
  posterior.parent_sets = sets.finish();
  const auto n = static_cast<std::size_t>(program.num_nodes());
  posterior.edges.assign(n, std::vector<double>(n));
  for (std::size_t v = 0; v < n; ++v) {
    for (std::uint32_t set = 0; set < posterior.parent_sets[v].size(); ++set) {
      const double probability = posterior.parent_sets[v][set];
      DagLayers::for_each_node(set, [&](int u) { posterior.edges[static_cast<std::size_t>(u)][v] += probability; });
    }
    for (std::size_t u = 0; u < n; ++u) posterior.edges[u][v] = std::min(posterior.edges[u][v], 1.0);
  }
  posterior.best = best_dag(program.scores());
  posterior.best.log_prob = posterior.best.log_score - posterior.log_z;
  sample_dags(layers, *answer.distribution, question, posterior);
  posterior.seconds = watch.seconds();
  return posterior;
}

// best(S): the highest score of a graph over the nodes of S. One of them, v, has no children, and its parents are the
// best ones within the others.
Dag best_dag(const DagScores& scores) {
  const std::size_t n = scores.size(), num_sets = std::size_t{1} << n;
  std::vector<std::vector<std::uint32_t>> parents(n,
                                                  std::vector<std::uint32_t>(num_sets));  // the best ones within a set
  for (std::size_t v = 0; v < n; ++v) {
    for (std::uint32_t set = 0; set < num_sets; ++set) {
      parents[v][set] = set;
      if ((set >> v & 1) != 0) continue;
      DagLayers::for_each_node(set, [&](int b) {
        const std::uint32_t other = parents[v][set & ~(1u << b)];
        if (scores[v][other] > scores[v][parents[v][set]]) parents[v][set] = other;
      });
    }
  }
  std::vector<double> best(num_sets, kNegInf);
  std::vector<std::size_t> sink(num_sets);
  best[0] = 0.0;
  for (std::uint32_t set = 1; set < num_sets; ++set) {
    DagLayers::for_each_node(set, [&](int b) {
      const auto v = static_cast<std::size_t>(b);
      const std::uint32_t others = set & ~(1u << b);
      const double score = best[others] + scores[v][parents[v][others]];
      if (score > best[set]) {
        best[set] = score;
        sink[set] = v;
      }
    });
  }
  Dag dag{std::vector<std::uint32_t>(n), best.back(), 0.0};
  for (std::size_t set = num_sets - 1; set != 0 && dag.log_score != kNegInf;) {
    const std::size_t v = sink[set];
    set &= ~(std::size_t{1} << v);
    dag.parents[v] = parents[v][set];
  }
  return dag;
}

}  // namespace treesample
