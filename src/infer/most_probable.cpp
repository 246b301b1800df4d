#include "infer/most_probable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "infer/best_search.hpp"
#include "infer/knowledge.hpp"
#include "infer/policy.hpp"
#include "math/compensated_sum.hpp"
#include "space/num_threads.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/map_search.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// True when the user has not configured the search, so that a proof can be added here.
bool is_left_open(const InferOptions& options) {
  const bool has_method = options.method || options.space || options.order || options.leaf;
  const bool has_rule = options.select ? options.select != SelectRule::kGap : has_method;
  return !has_rule && !options.c && !options.epsilon && !options.ties;
}

}  // namespace

class MostProbableStates {
 public:
  explicit MostProbableStates(const Asking& asking)
      : answer_(asking.answer),
        model_(asking.model),
        request_(asking.request),
        run_(asking.run),
        simplified_(simplify(with_soft_evidence(model_.graph, model_.soft_evidence), model_.evidence,
                             run_.time_box(policy::kSimplifyShare, HUGE_VAL))),
        reduced_(simplified_.model) {}

  void prove_best();
  void add_k_best();
  void add_map(const std::vector<int>& variables);

 private:
  // The most probable state of each variable by itself, where there are marginals and these states are possible
  // together.
  [[nodiscard]] std::optional<Assignment> greedy() const;
  // Where no search told more: S(y) is at least the density of any configuration with the states y.
  void take_best_for_map(MapAnswer& map) const;
  [[nodiscard]] MapOptions options(double seconds) const;
  [[nodiscard]] double seconds_left() const {
    return run_.has_time_limit() ? run_.seconds_left() : policy::kMapSeconds;
  }
  [[nodiscard]] double proof_seconds() const;
  [[nodiscard]] BestRequest work_for(double seconds) const;
  [[nodiscard]] bool find_several(int k);
  [[nodiscard]] Observer until(const ShouldStop& stop) const;
  // Nothing when there was no time for it, or the numbers are too large for it.
  std::optional<MapResult> search(const MapOptions& options, const Limits& limits, const ShouldStop& stop) const;
  [[nodiscard]] LogBounds log_sum(const std::vector<int>& variables, const std::vector<int>& states);
  [[nodiscard]] Configuration configuration(const std::vector<int>& x) const;
  // The rounding of the log density of a configuration.
  [[nodiscard]] double rounding_of(const Assignment& x) const;
  [[nodiscard]] double error() const { return 2.0 * simplified_.report.log_error; }

  Answer& answer_;
  KnownBest known_best_{answer_};
  const Model& model_;
  const InferRequest& request_;
  const Run& run_;
  const SimplifiedModel simplified_;
  const ReducedModel& reduced_;
  EliminationPlan sum_plan_;  // for eliminating the other variables, whatever states these have
  bool has_sum_plan_ = false, is_sum_cheap_ = false;
};

MapOptions MostProbableStates::options(double seconds) const {
  MapOptions options;
  options.seed = request_.options.seed;
  options.bucket_bytes = static_cast<std::size_t>(policy::kBucketBytesPerSecond * policy::kMapBucketShare * seconds);
  if (answer_.best) {
    if (const std::optional<Assignment> x = reduced_.lower(answer_.best->x)) options.first = {*x};
  }
  return options;
}

Observer MostProbableStates::until(const ShouldStop& stop) const {
  return {.progress = [this](const Progress& now) { run_.tell(now); }, .should_stop = stop};
}

std::optional<MapResult> MostProbableStates::search(const MapOptions& options, const Limits& limits,
                                                    const ShouldStop& stop) const {
  try {
    return map_search(reduced_.graph, limits, options, until(stop));
  } catch (const Error& error) {
    const bool is_beyond = error.code() == ErrorCode::kResource || error.code() == ErrorCode::kNumeric;
    if (error.code() != ErrorCode::kInterrupted && !is_beyond) throw;
    return {};
  }
}

Configuration MostProbableStates::configuration(const std::vector<int>& x) const {
  Assignment lifted = reduced_.lift(x);
  const double log_density = with_soft_evidence(model_.graph, model_.soft_evidence).log_density(lifted);
  return {std::move(lifted), log_density};
}

double MostProbableStates::rounding_of(const Assignment& x) const {
  const FactorGraph target = with_soft_evidence(model_.graph, model_.soft_evidence);
  CompensatedSum density;
  for (int m = 0; m < target.num_factors(); ++m) density.add(target.log_value(m, x));
  return density.error();
}

// An otherwise exact answer is not delayed for a proof that was not asked for.
double MostProbableStates::proof_seconds() const {
  if (!answer_.is_exact || request_.question.aim == Aim::kBest) return seconds_left();
  return std::min(seconds_left(), std::max(policy::kExactProofSeconds, policy::kExactProofShare * run_.seconds()));
}

// Without a time limit all work is counted, and of one thread, so that it is the same everywhere.
BestRequest MostProbableStates::work_for(double seconds) const {
  const bool has_end = run_.has_time_limit();
  BestRequest work{.seed = request_.options.seed,
                   .threads = has_end ? num_threads(request_.limits) : 1,
                   .bytes = request_.limits.bytes,
                   .begin = run_.seconds(),
                   .end = has_end ? run_.seconds() + seconds : HUGE_VAL};
  if (!has_end) work.bytes = std::min<std::size_t>(work.bytes, policy::kProofBytes);
  work.first = options(seconds).first;
  if (const std::optional<Assignment> x = greedy()) work.first.push_back(*x);
  work.should_stop = [stop = run_.until(), this, end = work.end] { return stop() || run_.seconds() >= end; };
  return work;
}

// Proves, or improves, the best configuration that a method found.
void MostProbableStates::prove_best() {
  const bool has_end = run_.has_time_limit();
  BestRequest asked = work_for(proof_seconds());
  asked.by_buckets = [&](const Configuration& best, double share) {
    MapOptions options = this->options(share);
    options.first = {best.x};
    Limits limits = request_.limits;
    limits.bytes = asked.bytes;
    if (!has_end) options.max_expanded = policy::kProofExpansions;
    const double until = has_end ? run_.seconds() + share : HUGE_VAL;
    return search(options, limits, [&, until] { return asked.should_stop() || run_.seconds() >= until; });
  };
  asked.tell = [this](const Configuration& best, double) {
    run_.tell({.phase = "proof of the best configuration", .best = best.log_density});
  };
  const BestFound found = search_best(reduced_.graph, run_, asked);
  if (request_.question.aim == Aim::kBest)
    answer_.method = "local search; branch and bound with soft arc consistency, and mini-buckets, best first";
  if (found.best.x.empty()) return;
  const Configuration found_best = configuration(found.best.x);
  known_best_.offer(found_best, rounding_of(found_best.x));
  known_best_.fill(answer_);
  if (!std::isfinite(found.log_upper)) return;
  const Configuration best = *known_best_.best();
  const double gap = std::max(0.0, found.log_upper - best.log_density) + error() + 2.0 * rounding_of(best.x);
  known_best_.prove(best, gap);
  known_best_.fill(answer_);
}

// By branch and bound, which is soon done or gives up; true where it proved that no others are better.
bool MostProbableStates::find_several(int k) {
  const double seconds = policy::kSeveralShare * seconds_left();
  const auto found = search_several(reduced_.graph, work_for(seconds), k, policy::kMostSeveralSteps);
  if (!found) return false;
  for (const Configuration& one : found->best) answer_.k_best.push_back(configuration(one.x));
  return found->is_done && found->log_upper - found->best.back().log_density + error() <= MapResult::kTolerance;
}

void MostProbableStates::add_k_best() {
  MapOptions options = this->options(seconds_left());
  options.k = static_cast<int>(request_.question.k_best);
  answer_.is_k_best_optimal = find_several(options.k);
  if (!answer_.is_k_best_optimal) {
    const ShouldStop stop = run_.time_box(policy::kMostBestShare, policy::kMapSeconds);
    const std::optional<MapResult> found = search(options, request_.limits, stop);
    if (!found && answer_.k_best.empty() && answer_.best) answer_.k_best = {*answer_.best};
    if (found && found->best.size() >= answer_.k_best.size()) {
      answer_.k_best.clear();
      for (const MapResult::Found& one : found->best) answer_.k_best.push_back(configuration(one.states));
      answer_.is_k_best_optimal = found->is_done && found->excess + error() <= MapResult::kTolerance;
    }
  }
  if (answer_.k_best.empty()) return;
  std::stable_sort(answer_.k_best.begin(), answer_.k_best.end(),
                   [](const Configuration& a, const Configuration& b) { return a.log_density > b.log_density; });
  known_best_.offer(answer_.k_best.front(), rounding_of(answer_.k_best.front().x));
  known_best_.fill(answer_);
}

// By elimination where that is cheap, in one order for all states; otherwise by a short search.
LogBounds MostProbableStates::log_sum(const std::vector<int>& variables, const std::vector<int>& states) {
  Evidence given;
  for (std::size_t i = 0; i < variables.size(); ++i) given.push_back({variables[i], states[i]});
  const ReducedModel rest = condition(reduced_.graph, given);
  if (!has_sum_plan_) {
    has_sum_plan_ = true;
    const EliminationOptions cheap{.goal = EliminationGoal::kLogZ, .most_entries = policy::kSumEntries};
    sum_plan_ = plan_elimination(rest.graph, cheap, run_.until());
    is_sum_cheap_ = sum_plan_.num_entries <= policy::kSumEntries &&
                    sum_plan_.log_z_bytes <= static_cast<double>(request_.limits.bytes);
  }
  if (is_sum_cheap_) {
    const EliminationOptions options{.goal = EliminationGoal::kLogZ};
    return Elimination(rest.graph, sum_plan_, request_.limits, options, {.should_stop = run_.until()}).bounds();
  }
  Limits limits;
  limits.bytes = request_.limits.bytes / 2;
  limits.seconds = std::max(run_.box_seconds(policy::kSumShare, policy::kSumSeconds), 1e-3);
  const Answer sum = infer(Model(rest.graph), {.marginals = false, .best = false}, limits,
                           {.importance = 0, .seed = request_.options.seed});
  return {sum.lower.value_or(kNegInf), sum.upper.value_or(HUGE_VAL)};
}

std::optional<Assignment> MostProbableStates::greedy() const {
  if (answer_.marginals.size() != reduced_.fixed_states.size()) return {};
  Assignment x;
  for (const std::vector<double>& states : answer_.marginals) {
    x.push_back(static_cast<int>(std::max_element(states.begin(), states.end()) - states.begin()));
  }
  return reduced_.lower(x);
}

void MostProbableStates::take_best_for_map(MapAnswer& map) const {
  map.states.clear();
  map.log_value = {kNegInf, map.log_upper};
  if (!answer_.best || answer_.best->log_density == kNegInf) return;
  CompensatedSum density;
  const FactorGraph graph = with_soft_evidence(model_.graph, model_.soft_evidence);
  for (int m = 0; m < graph.num_factors(); ++m) density.add(graph.log_value(m, answer_.best->x));
  for (const int v : map.variables) map.states.push_back(answer_.best->x[v]);
  map.log_value.lower = LogBounds::around(density.value(), 2.0 * density.error()).lower;
  map.by = "the best configuration that was found";
}

void MostProbableStates::add_map(const std::vector<int>& variables) {
  MapAnswer& map = answer_.map.emplace();
  map.variables = variables;
  map.by = "propagation of zeros";
  if (simplified_.report.is_impossible || (answer_.log_z == kNegInf && answer_.is_exact)) {
    map.log_value = {kNegInf, kNegInf};
    map.log_upper = kNegInf;
    map.is_optimal = true;
    return;
  }
  std::vector<int> reduced_of(reduced_.fixed_states.size(), -1);
  for (std::size_t i = 0; i < reduced_.variable_of.size(); ++i)
    reduced_of[reduced_.variable_of[i]] = static_cast<int>(i);
  MapOptions options = this->options(seconds_left());
  for (const int v : variables) {
    if (reduced_of[v] >= 0) options.variables.push_back(reduced_of[v]);
  }
  for (const int v : variables) map.states.push_back(reduced_.fixed_states[v]);
  if (options.variables.empty()) {  // these are known already
    map.log_value = {answer_.lower.value_or(kNegInf), answer_.upper.value_or(HUGE_VAL)};
    map.log_upper = map.log_value.upper;
    map.is_optimal = true;
    return;
  }
  if (const std::optional<Assignment> x = greedy()) options.first.push_back(*x);
  options.log_sum = [this](const std::vector<int>& m, const std::vector<int>& y) { return log_sum(m, y); };
  const std::optional<MapResult> found =
      search(options, request_.limits, run_.has_time_limit() ? run_.until() : run_.time_box(1.0, policy::kMapSeconds));
  map.by = "mini-buckets, best first";
  if (!found || found->best.empty()) {
    map.log_upper = found ? std::nextafter(found->log_upper + error(), HUGE_VAL) : answer_.upper.value_or(HUGE_VAL);
    take_best_for_map(map);
    return;
  }
  if (found->is_exact_heuristic) map.by = "exact: elimination, the variables in question last";
  const LogBounds value = found->best.front().log_value.widened(error());
  for (std::size_t i = 0, next = 0; i < variables.size(); ++i) {
    const int reduced = reduced_of[variables[i]];
    if (reduced >= 0) map.states[i] = reduced_.states_of[reduced][found->best.front().states[next++]];
  }
  map.log_value = value;
  map.log_upper = std::max(value.upper, std::nextafter(found->log_upper + error(), HUGE_VAL));
  map.is_optimal = map.log_upper - value.lower <= MapResult::kTolerance;
}

std::vector<int> map_variables(const Model& model, const Question& question) {
  std::vector<int> variables;
  std::set<int> seen;
  std::optional<Names> names;
  if (!question.map.empty()) names.emplace(model.graph);
  for (const std::string& name : question.map) {
    try {
      variables.push_back(names->variable(name));
    } catch (const Error& error) {
      throw OptionError("map", error.what());
    }
    if (seen.insert(variables.back()).second) continue;
    throw OptionError("map", fmt::format("variable '{}' is named twice", shortened(name, 60)));
  }
  const char* const option = !variables.empty() ? "map" : question.k_best > 1 ? "k-best" : nullptr;
  if (option != nullptr && model.circuit) throw OptionError(option, "is not for circuits");  // theirs is a function
  if (option != nullptr && !model.graph.has_only_tables()) {
    throw OptionError(option, "needs a model of tables, and this one has factors that are computed by functions");
  }
  return variables;
}

bool wants_proof(const Model& model, const InferRequest& request) {
  return request.question.best && model.graph.has_only_tables() && is_left_open(request.options);
}

namespace {

bool is_impossible(const Answer& answer) { return answer.log_z == kNegInf && answer.is_exact; }

MostProbableStates& finder_of(Asking& asking) {
  if (!asking.finder) asking.finder = std::make_shared<MostProbableStates>(asking);
  return *asking.finder;
}

void note_end(Asking& asking, const char* what) {
  asking.answer.seconds = asking.run.seconds();
  if (asking.run.is_interrupted()) asking.run.remark(fmt::format("interrupted: {}", what));
}

}  // namespace

void find_best_configurations(Asking& asking) {
  if (is_impossible(asking.answer) || asking.run.is_interrupted()) return;
  finder_of(asking).add_k_best();
  note_end(asking, "the search for the best configurations (--k-best)");
}

void find_marginal_map(Asking& asking) {
  finder_of(asking).add_map(map_variables(asking.model, asking.request.question));
  note_end(asking, "the search for the most probable states (--map)");
}

void prove_best(Asking& asking) {
  const Answer& answer = asking.answer;
  if (answer.is_best_optimal == true || is_impossible(answer) || !answer.best) return;
  if (asking.run.seconds_left() <= 0.0 || asking.run.is_interrupted()) return;
  finder_of(asking).prove_best();
  note_end(asking, "the proof of the best configuration");
}

}  // namespace treesample
