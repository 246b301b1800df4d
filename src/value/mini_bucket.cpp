#include "treesample/value/mini_bucket.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "math/compensated_sum.hpp"
#include "math/vector_kernels.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "value/conditional_tables.hpp"
#include "value/mini_bucket_plan.hpp"
#include "value/mini_bucket_sides.hpp"
#include "value/table_lookups.hpp"

namespace treesample {
namespace {

constexpr const char* kWeightedMiniBucket = "WeightedMiniBucket";

}  // namespace

struct WeightedMiniBucket::State {
  State(FactorGraph model, SearchSpace search_space) : graph(std::move(model)), space(std::move(search_space)) {}

  const FactorGraph graph;  // a copy, which shares the tables, so that the bounds can outlive the caller's graph
  const SearchSpace space;
  MiniBucketPlan plan;
  MiniBucketSides sides;
  MiniBucketReport report;
  std::size_t most_states = 1;
  std::vector<bool> is_exact;          // by level
  std::vector<double> upper_rounding;  // by level: how much U_j was widened
  TableLookups upper_rows;             // by level: U_j
  TableLookups lower_rows;             // by level: L_j, from `lower`
  TableLookups q_rows;                 // by level: R_n and the U_j of the children, x_n left open
  TableLookups sampler_rows;           // by level: the part of q_rows that depends on x_n
  TableLookups sent_rows;              // by level: the messages of its clusters, which bound the sum of that part

  // By level, for levels below which no bucket is split and whose table is small. Made when the first sample is drawn.
  ConditionalTables conditionals;
  std::once_flag conditionals_made;

  // By level: the sum of the constant messages sent from it or from below; the rounding error of all messages from
  // there, and of adding up the messages that U_j or L_j consists of.
  struct Constants {
    std::vector<double> messages;
    std::vector<double> rounding;
  };

  [[nodiscard]] Constants constants(const MiniBucketPasses& passes, std::span<const std::vector<int>> passing) const;
  [[nodiscard]] std::vector<std::vector<int>> passing_messages(StopCheck& stop) const;
  void make_rows(const ShouldStop& should_stop);
  void summarise();
  [[nodiscard]] double log_lower(int level, std::span<const int> x) const;
  void check_asked(int level, std::span<const int> x) const;
  void make_conditionals();
  template <typename Choose>
  double visit_below(int level, std::span<const int> x, Choose choose) const;
  struct Visit {
    double log_q = 0.0, log_total = 0.0;  // logarithms for the chosen state, and for all states together
  };
  template <typename Choose>
  Visit visit(int n, std::span<const int> x, std::span<double> values, std::span<double> weights, Choose choose) const;
};

WeightedMiniBucket::State::Constants WeightedMiniBucket::State::constants(
    const MiniBucketPasses& passes, std::span<const std::vector<int>> passing) const {
  std::vector<CompensatedSum> messages(plan.buckets.size());
  Constants result{std::vector<double>(plan.buckets.size(), 0.0), std::vector<double>(plan.buckets.size(), 0.0)};
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    const MiniBucketPlan::Bucket& bucket = plan.buckets[n];
    for (int c = bucket.first; c < bucket.first + bucket.count; ++c) {
      if (plan.clusters[c].parent < 0) messages[n].add(passes.message(c).front());
      result.rounding[n] += passes.rounding(c);
    }
    const int parent = space.levels[n].parent;
    if (parent < 0) continue;
    messages[parent].add(messages[n]);
    result.rounding[parent] += result.rounding[n];
  }
  for (std::size_t n = 0; n < messages.size(); ++n) {
    result.messages[n] = messages[n].value();
    double magnitude = messages[n].value() == kNegInf ? 0.0 : std::abs(messages[n].value());
    for (const int c : passing[n]) magnitude += passes.magnitude(c);
    // Terms are looked up and added one by one; the last one is the amount by which the bound is widened.
    const double num_terms = static_cast<double>(passing[n].size()) + 2.0;
    result.rounding[n] += messages[n].rounding() + kEpsilon * num_terms * (magnitude + result.rounding[n]);
  }
  return result;
}

// By level j: the clusters at j or below whose messages go to a level before j.
std::vector<std::vector<int>> WeightedMiniBucket::State::passing_messages(StopCheck& stop) const {
  std::vector<std::vector<int>> passing(plan.buckets.size());
  for (int c = 0; c < static_cast<int>(plan.clusters.size()); ++c) {
    if (plan.clusters[c].parent < 0) continue;
    const int target = plan.clusters[plan.clusters[c].parent].level;
    for (int n = plan.clusters[c].level; n > target; n = space.levels[n].parent) {
      stop.go_on(kWeightedMiniBucket, 4);
      passing[n].push_back(c);
    }
  }
  return passing;
}

void WeightedMiniBucket::State::make_rows(const ShouldStop& should_stop) {
  StopCheck stop(should_stop);
  const std::vector<std::vector<int>> passing = passing_messages(stop);
  const auto message = [&](const MiniBucketPasses& passes, int c) {
    return TableView{plan.clusters[c].separator(), passes.message(c).data()};
  };
  const auto parent_variable = [&](int n) {
    return space.levels[n].parent >= 0 ? space.levels[space.levels[n].parent].variable : -1;
  };
  Constants constant = constants(*sides.upper, passing);
  for (int n = 0; n < space.num_levels(); ++n) constant.messages[n] += constant.rounding[n];
  for (int n = 0; n < space.num_levels(); ++n) {
    stop.go_on(kWeightedMiniBucket, static_cast<std::int64_t>(32 * passing[n].size() + 32));
    upper_rows.begin_row(constant.messages[n], parent_variable(n));
    for (const int c : passing[n]) upper_rows.add(graph, message(*sides.upper, c));

    const Level& level = space.levels[n];
    double below = 0.0;
    for (const int j : level.children) below += constant.messages[j];
    q_rows.begin_row(below, level.variable);
    sampler_rows.begin_row(0.0, level.variable);
    sent_rows.begin_row(0.0);
    const MiniBucketPlan::Bucket& bucket = plan.buckets[n];
    for (int c = bucket.first; c < bucket.first + bucket.count; ++c) sent_rows.add(graph, message(*sides.upper, c));
    for (const int m : level.factors) {
      const TableView table{graph.factor(m).scope(), graph.factor(m).log_values().data()};
      q_rows.add(graph, table);
      sampler_rows.add(graph, table);
    }
    for (const int j : level.children) {
      for (const int c : passing[j]) {
        q_rows.add(graph, message(*sides.upper, c));
        // A message that only passes this level is the same for all x_n and cancels in their probabilities.
        if (plan.clusters[plan.clusters[c].parent].level == n) sampler_rows.add(graph, message(*sides.upper, c));
      }
    }
  }
  upper_rounding = std::move(constant.rounding);
  if (sides.lower == nullptr) return;
  const Constants lower_constant = constants(*sides.lower, passing);
  for (int n = 0; n < space.num_levels(); ++n) {
    stop.go_on(kWeightedMiniBucket, static_cast<std::int64_t>(16 * passing[n].size() + 16));
    lower_rows.begin_row(lower_constant.messages[n] - lower_constant.rounding[n], parent_variable(n));
    for (const int c : passing[n]) lower_rows.add(graph, message(*sides.lower, c));
  }
}

void WeightedMiniBucket::State::check_asked(int level, std::span<const int> x) const {
  if (level >= 0 && level < space.num_levels() && x.size() == space.levels.size()) return;
  check_range(kWeightedMiniBucket, "level", level, 0, space.num_levels() - 1);
  check_range(kWeightedMiniBucket, "number of states given", static_cast<std::int64_t>(x.size()), space.num_levels(),
              space.num_levels());
}

double WeightedMiniBucket::State::log_lower(int level, std::span<const int> x) const {
  if (is_exact[level]) return upper_rows.sum(level, x) - 2.0 * upper_rounding[level];
  return sides.lower != nullptr ? lower_rows.sum(level, x) : kNegInf;
}

void WeightedMiniBucket::State::summarise() {
  report.i_bound = plan.i_bound;
  report.num_clusters = static_cast<int>(plan.clusters.size());
  report.is_exact = plan.is_exact();
  report.upper_passes = sides.upper->num_passes();
  if (sides.lower != nullptr) report.lower_passes = sides.lower->num_passes();
  report.has_lower = sides.lower != nullptr || report.is_exact;
  report.log_upper = space.log_constant;
  report.log_lower = space.log_constant;
  double magnitude = std::abs(space.log_constant);
  for (const int root : space.roots) {
    const double upper = upper_rows.sum(root, {}), lower = log_lower(root, {});
    report.log_upper += upper;
    report.log_lower += lower;
    magnitude += std::max(std::abs(upper), lower == kNegInf ? 0.0 : std::abs(lower));
  }
  if (report.log_upper == kNegInf) return;
  const double widening = space.log_constant_error + kEpsilon * magnitude * static_cast<double>(space.roots.size() + 1);
  report.log_upper += widening;
  report.log_lower -= widening;
}

WeightedMiniBucket::WeightedMiniBucket(const FactorGraph& graph, const SearchSpace& space,
                                       const MiniBucketOptions& options)
    : LeafValue(space), state_(std::make_unique<State>(graph, LeafValue::space())) {
  check_space(kWeightedMiniBucket, graph, space);
  check_argument(graph.has_only_tables(), kWeightedMiniBucket, "needs a model in which every factor is a table");
  check_range(kWeightedMiniBucket, "passes", options.passes, 1, 1'000'000);
  check_range(kWeightedMiniBucket, "threads", options.threads, 0, 4096);
  check_range(kWeightedMiniBucket, "i_bound", options.i_bound.value_or(0), 0, FactorGraph::kMaxStates);
  State& s = *state_;
  s.plan = choose_mini_bucket_plan(graph, space, options);
  s.sides = make_mini_bucket_sides(s.graph, s.plan, options);
  s.is_exact.resize(space.levels.size());
  for (const Level& level : space.levels) s.most_states = std::max<std::size_t>(s.most_states, level.num_states);
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    s.is_exact[n] =
        s.plan.buckets[n].count == 1 && std::all_of(space.levels[n].children.begin(), space.levels[n].children.end(),
                                                    [&](int j) { return s.is_exact[j]; });
  }
  s.make_rows(options.should_stop);
  s.summarise();
  s.report.bytes = static_cast<std::uint64_t>(s.sides.peak_bytes);
  s.report.kept_bytes = static_cast<std::uint64_t>(s.plan.kept_bytes * (s.sides.lower != nullptr ? 2.0 : 1.0));
  for (const Factor& factor : graph.factors()) {
    s.report.table_reads += static_cast<std::int64_t>(factor.log_values().size());
  }
}

WeightedMiniBucket::~WeightedMiniBucket() = default;

const MiniBucketReport& WeightedMiniBucket::report() const { return state_->report; }

double WeightedMiniBucket::log_upper(int level, std::span<const int> x) const {
  state_->check_asked(level, x);
  return state_->upper_rows.sum(level, x);
}

double WeightedMiniBucket::log_lower(int level, std::span<const int> x) const {
  state_->check_asked(level, x);
  return state_->log_lower(level, x);
}

void WeightedMiniBucket::log_values(int level, int /*variable*/, std::span<int> x, std::span<double> values) const {
  state_->check_asked(level, x);
  state_->upper_rows.sum_each(level, x, values);
}

bool WeightedMiniBucket::is_exact(int level) const {
  check_range(kWeightedMiniBucket, "level", level, 0, state_->space.num_levels() - 1);
  return state_->is_exact[level];
}

void WeightedMiniBucket::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  check_range(kWeightedMiniBucket, "level", level, 0, state_->space.num_levels() - 1);
  const auto width = static_cast<std::size_t>(state_->graph.num_variables());
  const auto num_states = static_cast<std::size_t>(state_->space.levels[level].num_states);
  const auto rows = static_cast<std::size_t>(std::max(count, 0));
  check_argument(prefixes.size() >= rows * width && q.size() >= rows * num_states, kWeightedMiniBucket,
                 "there are fewer prefixes or Q-values than the rows asked for");
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    state_->q_rows.sum_each(level, prefixes.subspan(r * width, width), q.subspan(r * num_states, num_states));
  }
}

int WeightedMiniBucket::table_reads(int level) const {
  check_range(kWeightedMiniBucket, "level", level, 0, state_->space.num_levels() - 1);
  const Level& here = state_->space.levels[level];
  return static_cast<int>(here.factors.size()) * here.num_states;
}

// Visits the level and all levels below it. `choose` gets a variable and weights proportional to its probabilities, and
// returns its state. Sampling spends its time here: no memory is allocated per level, and exp and log are inlined.
template <typename Choose>
double WeightedMiniBucket::State::visit_below(int level, std::span<const int> x, Choose choose) const {
  std::vector<int> open = {level};
  std::vector<double> values(most_states), weights(most_states);
  CompensatedSum log_q;
  while (!open.empty()) {
    const int n = open.back();
    open.pop_back();
    if (const auto [probs, log_probs] = conditionals.at(n, x); !probs.empty()) {
      log_q.add(log_probs[static_cast<std::size_t>(choose(space.levels[n].variable, probs))]);
    } else {
      log_q.add(visit(n, x, values, weights, choose).log_q);
    }
    const std::vector<int>& children = space.levels[n].children;
    open.insert(open.end(), children.begin(), children.end());
  }
  return log_q.value();
}

template <typename Choose>
WeightedMiniBucket::State::Visit WeightedMiniBucket::State::visit(int n, std::span<const int> x,
                                                                  std::span<double> values, std::span<double> weights,
                                                                  Choose choose) const {
  const Level& here = space.levels[n];
  const std::span<double> q = values.first(static_cast<std::size_t>(here.num_states));
  sampler_rows.sum_each(n, x, q);
  double largest = *std::max_element(q.begin(), q.end());
  const bool is_possible = largest != kNegInf;
  if (!is_possible) {
    std::fill(q.begin(), q.end(), 0.0);
    largest = 0.0;
  }
  double total = 0.0;
  for (std::size_t a = 0; a < q.size(); ++a) {
    weights[a] = q[a] == kNegInf ? 0.0 : exp_one(q[a] - largest);
    total += weights[a];
  }
  // log q is not computed as the logarithm of the weight, which may have underflowed: the bound on the weights must
  // hold for all x.
  const int state = choose(here.variable, std::span<const double>(weights.data(), q.size()));
  const double log_total = log_one(total);
  return {q[state] - largest - log_total, is_possible ? largest + log_total : kNegInf};
}

// Three quarters of the levels of pedigree models get a table. A sample then needs one look-up per level instead of
// sums over several tables, exponentials and a logarithm.
void WeightedMiniBucket::State::make_conditionals() {
  conditionals = ConditionalTables(space.num_levels());
  std::vector<double> values(most_states), weights(most_states);
  for (int n = 0; n < space.num_levels(); ++n) {
    if (!is_exact[n]) continue;
    const auto write = [&](std::span<const int> x, std::span<double> probs, std::span<double> log_probs) {
      for (std::size_t a = 0; a < probs.size(); ++a) {
        const auto choose = [&](int, std::span<const double> all) {
          std::copy(all.begin(), all.end(), probs.begin());
          return static_cast<int>(a);
        };
        log_probs[a] = visit(n, x, values, weights, choose).log_q;
      }
    };
    conditionals.make(graph, n, plan.clusters[plan.buckets[n].first].scope, write);
  }
}

double WeightedMiniBucket::draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const {
  state_->check_asked(level, x);
  std::call_once(state_->conditionals_made, [&] { state_->make_conditionals(); });
  return state_->visit_below(level, x, [&](int variable, std::span<const double> weights) {
    stop.go_on("sample", 16);
    return x[variable] = random.categorical(weights);
  });
}

std::optional<LeafValue::Step> WeightedMiniBucket::sample_level(int level, std::span<int> x, Random& random) const {
  constexpr std::size_t kFewStates = 16;
  std::array<double, 2 * kFewStates> few;
  std::vector<double> many;
  std::span<double> numbers(few);
  if (state_->most_states > kFewStates) {
    many.resize(2 * state_->most_states);
    numbers = many;
  }
  const std::size_t half = numbers.size() / 2;
  const auto choose = [&](int variable, std::span<const double> weights) {
    return x[variable] = random.categorical(weights);
  };
  const State::Visit visit = state_->visit(level, x, numbers.first(half), numbers.subspan(half), choose);
  if (visit.log_total == kNegInf) return Step{visit.log_q, HUGE_VAL};
  const bool is_split = state_->plan.buckets[level].count > 1;
  return Step{visit.log_q, is_split ? state_->sent_rows.sum(level, x) - visit.log_total : 0.0};
}

double WeightedMiniBucket::log_prob_below(int level, std::span<const int> x) const {
  state_->check_asked(level, x);
  std::call_once(state_->conditionals_made, [&] { state_->make_conditionals(); });
  return state_->visit_below(level, x, [&](int variable, std::span<const double>) { return x[variable]; });
}

void WeightedMiniBucket::probabilities(int level, std::span<const int> x, std::span<double> probs) const {
  q_values(level, x, 1, probs);
  // If no state is possible, q is uniform.
  if (softmax(probs, probs) == kNegInf) std::fill(probs.begin(), probs.end(), 1.0 / static_cast<double>(probs.size()));
}

LeafValues mini_bucket_leaves(const FactorGraph& graph, const SearchSpace& space,
                              std::shared_ptr<const WeightedMiniBucket> buckets,
                              const LocalDistributions& distributions, const ShouldStop& should_stop) {
  check_space("mini_bucket_leaves", graph, space);
  check_argument(buckets && buckets->fits(space), "mini_bucket_leaves",
                 "the mini-buckets were made for another search space");
  LeafValues leaves;
  leaves.lower = product_value(graph, space, distributions, should_stop);
  leaves.upper = buckets;
  leaves.lower_bound = [buckets = std::move(buckets)](int level, std::span<const int> x) {
    return buckets->log_lower(level, x);
  };
  return leaves;
}

}  // namespace treesample
