#include "treesample/exact/map_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "exact/map_buckets.hpp"
#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

constexpr const char* kMapSearch = "map_search";
constexpr std::size_t kMostBucketShare = 2;  // buckets get at most the memory divided by this, the search the rest
constexpr int kExpansionsBetweenLooks = 16;
constexpr std::int64_t kFirstDives = 8;  // expansions before the first dive; then 3/2 of the last number

class MapSearch {
 public:
  MapSearch(const FactorGraph& graph, const Limits& limits, const MapOptions& options, const Observer& observer)
      : graph_(graph),
        options_(options),
        observer_(observer),
        bytes_(limits.bytes),
        is_map_(static_cast<std::size_t>(graph.num_variables()), options.variables.empty() ? 1 : 0) {
    for (const int v : options.variables) {
      check_range(kMapSearch, "variable", v, 0, graph.num_variables() - 1);
      check_argument(std::exchange(is_map_[v], 1) == 0, kMapSearch, fmt::format("variable {} is named twice", v));
    }
    check_range(kMapSearch, "k", options.k, 1, 1'000'000);
    for (int m = 0; m < graph.num_factors(); ++m) {
      check_argument(graph.factor(m).is_table(), kMapSearch, fmt::format("factor {} is a function", m));
    }
    result_.variables = options.variables;
    for (int v = 0; options.variables.empty() && v < graph.num_variables(); ++v) result_.variables.push_back(v);
    x_.assign(is_map_.size(), 0);
  }

  MapResult run() {
    make_buckets();
    result_.is_exact_heuristic = buckets_->is_exact();
    if (buckets_->root() == kNegInf) {
      result_.log_upper = kNegInf;
      result_.is_done = true;
      return std::move(result_);
    }
    for (const Assignment& x : options_.first) offer_configuration(x);
    push(-1, 0, buckets_->root());
    dive(0, buckets_->root());  // so that there is an answer, however little time there is
    search();
    return std::move(result_);
  }

 private:
  struct Node {
    int parent = -1;  // in nodes_
    int state = 0;    // of the variable of the level before
    int level = 0;    // number of variables that have states
  };
  struct Open {
    double f = 0.0;
    int node = 0;
    bool operator<(const Open& other) const { return f < other.f || (f == other.f && node < other.node); }
  };

  void make_buckets();
  void search();
  void conclude(double left);
  void push(int parent, int state, double f, int level = 0);
  void load(int node);
  void expand(const Open& open);
  void dive(int node, double f);
  void descend(int level, double f);
  LogBounds value_of_leaf(double f);
  void offer_leaf(double f);
  void offer_configuration(const Assignment& x);
  void offer(std::vector<int> y, const LogBounds& value);
  [[nodiscard]] double threshold() const;
  [[nodiscard]] double widened(double f) const;
  [[nodiscard]] bool can_improve(double f);
  [[nodiscard]] bool is_asked_to_stop();
  [[nodiscard]] bool is_full() const { return nodes_.size() >= max_nodes_; }
  [[nodiscard]] std::vector<int> states() const;

  const FactorGraph& graph_;
  const MapOptions& options_;
  const Observer& observer_;
  std::size_t bytes_;
  std::vector<char> is_map_;
  std::optional<MapBuckets> buckets_;
  std::size_t max_nodes_ = 0;
  std::vector<Node> nodes_;
  std::vector<Open> open_;                       // a heap
  Assignment x_;                                 // of the whole model; variables that have no state yet are meaningless
  std::map<std::vector<int>, LogBounds> known_;  // assignments of M that were evaluated
  double tied_upper_ = kNegInf;                  // of those that were dismissed
  bool is_stopped_ = false;
  MapResult result_;
};

// Chooses the largest clusters whose messages fit into the memory, by bisection.
void MapSearch::make_buckets() {
  const std::vector<int> order =
      options_.order.empty() ? map_order(graph_, is_map_, options_.seed, observer_.should_stop) : options_.order;
  const double allowed = static_cast<double>(std::min(options_.bucket_bytes, bytes_ / kMostBucketShare));
  double low = 1.0, high = 30.0;  // log2 of the entries of a cluster
  const auto fits = [&](double log2_entries) {
    return MapBuckets::fits(graph_, order, std::exp2(log2_entries), allowed, observer_.should_stop);
  };
  if (fits(high)) low = high;
  while (high - low > 1.0) {
    const double middle = std::floor((low + high) / 2.0);
    (fits(middle) ? low : high) = middle;
  }
  buckets_.emplace(graph_, order, is_map_, std::exp2(low), observer_.should_stop);
  max_nodes_ = std::max<std::size_t>(1000, bytes_ / kMostBucketShare / (2 * (sizeof(Node) + sizeof(Open))));
  max_nodes_ = std::min<std::size_t>(max_nodes_, std::size_t{1} << 30);
}

double MapSearch::threshold() const {
  const auto k = static_cast<std::size_t>(options_.k);
  return result_.best.size() < k ? kNegInf : result_.best.back().log_value.lower;
}

double MapSearch::widened(double f) const {
  const double known = threshold() == kNegInf ? 0.0 : std::abs(threshold());
  return f + buckets_->error(std::abs(buckets_->root()) + std::abs(f) + known);
}

// A node that only rounding could put above the known values is a tie. Models with symmetries have a great many.
bool MapSearch::can_improve(double f) {
  if (f == kNegInf) return false;
  const double upper = widened(f);
  if (upper <= threshold()) return false;
  if (f - threshold() > std::min(upper - f, MapResult::kTolerance)) return true;
  tied_upper_ = std::max(tied_upper_, upper);
  return false;
}

bool MapSearch::is_asked_to_stop() {
  if (is_stopped_ || result_.num_expanded % kExpansionsBetweenLooks != 0) return is_stopped_;
  if (observer_.progress) {
    observer_.progress({.phase = "most probable states", .num_nodes = static_cast<std::uint64_t>(nodes_.size())});
  }
  is_stopped_ = result_.num_expanded >= options_.max_expanded || (observer_.should_stop && observer_.should_stop());
  return is_stopped_;
}

void MapSearch::push(int parent, int state, double f, int level) {
  nodes_.push_back({parent, state, level});
  open_.push_back({f, static_cast<int>(nodes_.size()) - 1});
  std::push_heap(open_.begin(), open_.end());
}

// Writes the states of a node into x_.
void MapSearch::load(int node) {
  for (; nodes_[node].parent >= 0; node = nodes_[node].parent) {
    x_[buckets_->variable(nodes_[node].level - 1)] = nodes_[node].state;
  }
}

std::vector<int> MapSearch::states() const {
  std::vector<int> y;
  for (const int v : result_.variables) y.push_back(x_[v]);
  return y;
}

void MapSearch::search() {
  std::int64_t next_dive = kFirstDives;
  double left = kNegInf;  // f of the best node that was not searched to the end
  while (!open_.empty()) {
    const Open top = open_.front();
    if (!can_improve(top.f)) break;
    if (is_asked_to_stop()) {
      left = top.f;
      break;
    }
    std::pop_heap(open_.begin(), open_.end());
    open_.pop_back();
    ++result_.num_expanded;
    load(top.node);
    const int level = nodes_[top.node].level;
    if (level == buckets_->num_levels()) {
      offer_leaf(top.f);
      continue;
    }
    if (result_.num_expanded >= next_dive) {
      next_dive = next_dive * 3 / 2;
      dive(top.node, top.f);
      load(top.node);
    }
    if (!is_full()) {
      expand(top);
      continue;
    }
    descend(level, top.f);
    if (is_stopped_) left = top.f;
    if (is_stopped_) break;
  }
  conclude(left);
}

// `left`: f of the best node that was not searched to the end.
void MapSearch::conclude(double left) {
  const std::vector<MapResult::Found>& best = result_.best;
  std::set<std::vector<int>> listed;
  double upper_of_best = kNegInf;
  for (const MapResult::Found& found : best) {
    listed.insert(found.states);
    upper_of_best = std::max(upper_of_best, found.log_value.upper);
  }
  double others = std::max(tied_upper_, left == kNegInf ? threshold() : widened(left));
  for (const auto& [states, value] : known_) {
    if (!listed.contains(states)) others = std::max(others, value.upper);
  }
  result_.log_upper = std::max(upper_of_best, others);
  const bool has_all = std::ssize(best) < options_.k;
  const double of_last = has_all ? (others == kNegInf ? 0.0 : HUGE_VAL) : others - best.back().log_value.lower;
  // Where the values are not exact, it is not known which of them is the first.
  result_.excess = std::max(of_last, best.empty() ? 0.0 : result_.gap());
  result_.is_done = left == kNegInf && result_.excess <= MapResult::kTolerance;
}

void MapSearch::expand(const Open& open) {
  const int level = nodes_[open.node].level;
  std::vector<double> values(static_cast<std::size_t>(graph_.num_states(buckets_->variable(level))));
  buckets_->children(level, x_, open.f, values);
  for (std::size_t a = 0; a < values.size(); ++a) {
    const double f = std::min(values[a], open.f);  // larger only by rounding
    if (can_improve(f)) push(open.node, static_cast<int>(a), f, level + 1);
  }
}

// Takes the best state at each remaining level.
void MapSearch::dive(int node, double f) {
  for (int level = nodes_[node].level; level < buckets_->num_levels() && f != kNegInf; ++level) {
    const int v = buckets_->variable(level);
    std::vector<double> values(static_cast<std::size_t>(graph_.num_states(v)));
    buckets_->children(level, x_, f, values);
    x_[v] = static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
    f = values[x_[v]];
  }
  if (f != kNegInf) offer_leaf(f);
}

void MapSearch::descend(int level, double f) {
  if (level == buckets_->num_levels()) {
    offer_leaf(f);
    return;
  }
  ++result_.num_expanded;
  if (is_asked_to_stop()) return;
  const int v = buckets_->variable(level);
  std::vector<double> values(static_cast<std::size_t>(graph_.num_states(v)));
  buckets_->children(level, x_, f, values);
  std::vector<int> by_value(values.size());
  for (std::size_t a = 0; a < by_value.size(); ++a) by_value[a] = static_cast<int>(a);
  std::stable_sort(by_value.begin(), by_value.end(), [&](int a, int b) { return values[a] > values[b]; });
  for (const int a : by_value) {
    if (!can_improve(std::min(values[a], f))) return;
    x_[v] = a;
    descend(level + 1, std::min(values[a], f));
    if (is_stopped_) return;
  }
}

// log S of the states in x_, where all variables of M have one.
LogBounds MapSearch::value_of_leaf(double f) {
  if (result_.variables.size() == is_map_.size()) {
    CompensatedSum density;
    for (int m = 0; m < graph_.num_factors(); ++m) density.add(graph_.log_value(m, x_));
    if (density.value() == kNegInf) return {kNegInf, kNegInf};
    return LogBounds::around(density.value(), 2.0 * density.error());
  }
  const double error = buckets_->error(std::abs(buckets_->root()) + std::abs(f));
  const LogBounds by_buckets{buckets_->has_exact_sums() ? f - error : kNegInf, f + error};
  if (buckets_->has_exact_sums()) return by_buckets;
  if (options_.log_sum) {
    const LogBounds found = options_.log_sum(result_.variables, states());
    return {found.lower, std::min(found.upper, by_buckets.upper)};
  }
  Evidence given;
  for (const int v : result_.variables) given.push_back({v, x_[v]});
  const ReducedModel rest = condition(graph_, given);
  Limits limits;
  limits.bytes = bytes_;
  const EliminationOptions options{.goal = EliminationGoal::kLogZ, .restarts = 1};
  EliminationPlan plan = plan_elimination(rest.graph, options, observer_.should_stop);
  if (plan.log_z_bytes > static_cast<double>(bytes_)) return by_buckets;
  return Elimination(rest.graph, std::move(plan), limits, options, {.should_stop = observer_.should_stop}).bounds();
}

void MapSearch::offer_leaf(double f) {
  std::vector<int> y = states();
  if (known_.contains(y)) return;
  LogBounds value;
  try {
    value = value_of_leaf(f);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    value = {kNegInf, widened(f)};
    is_stopped_ = true;
  }
  known_.emplace(y, value);
  offer(std::move(y), value);
}

void MapSearch::offer_configuration(const Assignment& x) {
  graph_.check_assignment(x, kMapSearch);
  x_ = x;
  double f = buckets_->root();
  for (int level = 0; level < buckets_->num_levels() && f != kNegInf; ++level) {
    const int v = buckets_->variable(level);
    std::vector<double> values(static_cast<std::size_t>(graph_.num_states(v)));
    buckets_->children(level, x_, f, values);
    f = values[x_[v]];
  }
  if (f != kNegInf) offer_leaf(f);
}

void MapSearch::offer(std::vector<int> y, const LogBounds& value) {
  if (value.lower == kNegInf) return;
  std::vector<MapResult::Found>& best = result_.best;
  const auto place = std::find_if(best.begin(), best.end(),
                                  [&](const MapResult::Found& other) { return other.log_value.lower < value.lower; });
  best.insert(place, {std::move(y), value});
  if (std::ssize(best) <= options_.k) return;
  tied_upper_ = std::max(tied_upper_, best.back().log_value.upper);
  best.pop_back();
}

}  // namespace

double MapResult::gap() const {
  if (best.empty()) return log_upper == kNegInf ? 0.0 : HUGE_VAL;
  return std::max(0.0, log_upper - best.front().log_value.lower);
}

MapResult map_search(const FactorGraph& graph, const Limits& limits, const MapOptions& options,
                     const Observer& observer) {
  limits.validate();
  return MapSearch(graph, limits, options, observer).run();
}

}  // namespace treesample
