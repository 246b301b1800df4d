#include "treesample/reduce/summed_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "model/table_index.hpp"
#include "reduce/barren_variables.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kManyStates = 256;

}  // namespace

SummedModel::SummedModel(const FactorGraph& graph) : original_(graph) {
  std::vector<char> is_left(static_cast<std::size_t>(graph.num_factors()), 1);
  remove_barren(is_left);
  if (barren_.empty()) {
    graph_ = graph;
    for (int v = 0; v < graph.num_variables(); ++v) variable_of_.push_back(v);
    return;
  }
  std::vector<int> new_index(static_cast<std::size_t>(graph.num_variables()), 0);
  for (const Barren& barren : barren_) new_index[barren.variable] = -1;
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (new_index[v] < 0) continue;
    new_index[v] = graph_.add_variable(graph.variable(v));
    variable_of_.push_back(v);
  }
  for (int m = 0; m < graph.num_factors(); ++m) {
    if (is_left[m] == 0) continue;
    std::vector<int> scope;
    for (const int v : graph.factor(m).scope()) scope.push_back(new_index[v]);
    graph_.add_factor(graph.factor(m).with_scope(std::move(scope)));
  }
  if (log_constant_ != 0.0) graph_.add_factor(Factor::table_of_sums({}, {log_constant_}));
}

void SummedModel::remove_barren(std::vector<char>& is_left) {
  BarrenVariables found = barren_variables(original_, {}, [&](int m, int v) { return constant_sums(original_, m, v); });
  for (const BarrenVariable& one : found.removed) {
    Barren& barren = barren_.emplace_back(Barren{.variable = one.variable, .factor = one.factor});
    if (one.factor < 0) continue;
    const std::vector<int>& scope = original_.factor(one.factor).scope();
    const auto place = std::find(scope.begin(), scope.end(), one.variable) - scope.begin();
    barren.stride = stride_at(states_of_scope(original_, scope), static_cast<std::size_t>(place));
    barren.log_sum = one.sums.least;
    if (is_wide(barren)) barren.cumulative = cumulative_rows(barren);
  }
  is_left = std::move(found.has_factor);
  log_constant_ = found.log_constant;
  log_slack_ = found.log_slack;
}

bool SummedModel::is_wide(const Barren& barren) const { return original_.num_states(barren.variable) > kManyStates; }

std::size_t SummedModel::first_entry(const Barren& barren, std::span<const int> x) const {
  return table_row(original_, original_.factor(barren.factor).scope(), barren.variable, x).first;
}

std::vector<double> SummedModel::cumulative_rows(const Barren& barren) const {
  const std::vector<double>& log_values = original_.factor(barren.factor).log_values();
  const auto num_states = static_cast<std::size_t>(original_.num_states(barren.variable));
  std::vector<double> cumulative, row(num_states), probs(num_states);
  cumulative.reserve(log_values.size());
  for (std::size_t block = 0; block < log_values.size(); block += barren.stride * num_states) {
    for (std::size_t first = block; first < block + barren.stride; ++first) {
      for (std::size_t s = 0; s < num_states; ++s) row[s] = log_values[first + s * barren.stride];
      softmax(row, probs);
      double sum = 0.0;
      for (const double p : probs) cumulative.push_back(sum += p);
    }
  }
  return cumulative;
}

// Without a factor all states are equally likely. Otherwise the state is found from the cumulative probabilities of the
// row.
double SummedModel::draw_wide(const Barren& barren, std::span<int> x, Random& random) const {
  const auto num_states = static_cast<std::size_t>(original_.num_states(barren.variable));
  if (barren.factor < 0) {
    x[barren.variable] = static_cast<int>(random.below(num_states));
    return -std::log(static_cast<double>(num_states));
  }
  const std::size_t entry = first_entry(barren, x);
  const std::size_t block = entry / (barren.stride * num_states);
  const std::size_t row = block * barren.stride + entry % barren.stride;
  const auto begin = barren.cumulative.begin() + static_cast<std::ptrdiff_t>(row * num_states);
  const auto end = begin + static_cast<std::ptrdiff_t>(num_states);
  const double total = *(end - 1);
  // The first sum above the drawn number. If rounding leaves none, the first sum that equals the total.
  auto found = std::upper_bound(begin, end, random.uniform() * total);
  if (found == end) found = std::lower_bound(begin, end, total);
  x[barren.variable] = static_cast<int>(found - begin);
  const std::size_t drawn = entry + static_cast<std::size_t>(found - begin) * barren.stride;
  return original_.factor(barren.factor).log_values()[drawn] - barren.log_sum;
}

std::span<const double> SummedModel::conditional(const Barren& barren, std::span<const int> x,
                                                 std::vector<double>& buffer) const {
  buffer.assign(static_cast<std::size_t>(original_.num_states(barren.variable)), 0.0);
  if (barren.factor >= 0) {
    const std::vector<double>& log_values = original_.factor(barren.factor).log_values();
    const std::size_t first = first_entry(barren, x);
    for (std::size_t s = 0; s < buffer.size(); ++s) buffer[s] = log_values[first + s * barren.stride];
  }
  const double largest = *std::max_element(buffer.begin(), buffer.end());
  // Differences are taken first, because the logarithm of a sum of large numbers is rounded at their size.
  for (double& value : buffer) value -= largest;
  const double log_sum = log_sum_exp(buffer);
  for (double& value : buffer) value -= log_sum;
  return buffer;
}

// Checks that the remaining variables have legal states; the barren ones have none yet.
void SummedModel::check_left(const char* function, std::span<const int> x) const {
  check_range(function, "number of states given", static_cast<std::int64_t>(x.size()), original_.num_variables(),
              original_.num_variables());
  for (const int v : variable_of_) check_range(function, "state", x[v], 0, original_.num_states(v) - 1);
}

Assignment SummedModel::spread(std::span<const int> left) const {
  graph_.check_assignment(left, "SummedModel::spread");
  Assignment x(static_cast<std::size_t>(original_.num_variables()), -1);
  for (std::size_t i = 0; i < left.size(); ++i) x[variable_of_[i]] = left[i];
  return x;
}

Assignment SummedModel::left(std::span<const int> x) const {
  original_.check_assignment(x, "SummedModel::left");
  Assignment states;
  for (const int v : variable_of_) states.push_back(x[v]);
  return states;
}

double SummedModel::draw(std::span<int> x, Random& random) const {
  check_left("SummedModel::draw", x);
  double log_prob = 0.0;
  std::vector<double> buffer, probs;
  for (auto barren = barren_.rbegin(); barren != barren_.rend(); ++barren) {
    if (is_wide(*barren)) {
      log_prob += draw_wide(*barren, x, random);
      continue;
    }
    const std::span<const double> log_probs = conditional(*barren, x, buffer);
    probs.resize(log_probs.size());
    softmax(log_probs, probs);
    x[barren->variable] = random.categorical(probs);
    log_prob += log_probs[x[barren->variable]];
  }
  return log_prob;
}

void SummedModel::choose_best(std::span<int> x) const {
  check_left("SummedModel::choose_best", x);
  std::vector<double> buffer;
  for (auto barren = barren_.rbegin(); barren != barren_.rend(); ++barren) {
    const std::span<const double> log_probs = conditional(*barren, x, buffer);
    x[barren->variable] = static_cast<int>(std::max_element(log_probs.begin(), log_probs.end()) - log_probs.begin());
  }
}

Marginals SummedModel::marginals(const Marginals& left) const {
  const auto num_left = static_cast<std::int64_t>(variable_of_.size());
  check_range("SummedModel::marginals", "number of marginals", std::ssize(left), num_left, num_left);
  Marginals all(static_cast<std::size_t>(original_.num_variables()));
  for (std::size_t i = 0; i < left.size(); ++i) all[variable_of_[i]] = left[i];
  Assignment x(all.size(), 0);
  std::vector<double> buffer;
  for (auto barren = barren_.rbegin(); barren != barren_.rend(); ++barren) {
    std::vector<int> parents;
    if (barren->factor >= 0) parents = original_.factor(barren->factor).scope();
    std::erase(parents, barren->variable);
    if (parents.size() > 1) continue;
    const std::vector<double> of_parent = parents.empty() ? std::vector<double>{1.0} : all[parents[0]];
    if (of_parent.empty()) continue;
    std::vector<double> sums(static_cast<std::size_t>(original_.num_states(barren->variable)), 0.0);
    for (std::size_t a = 0; a < of_parent.size(); ++a) {
      if (of_parent[a] == 0.0) continue;
      if (!parents.empty()) x[parents[0]] = static_cast<int>(a);
      const std::span<const double> log_probs = conditional(*barren, x, buffer);
      for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += of_parent[a] * std::exp(log_probs[s]);
    }
    all[barren->variable] = std::move(sums);
  }
  return all;
}

double SummedModel::log_prob(std::span<const int> x) const {
  original_.check_assignment(x, "SummedModel::log_prob");
  double sum = 0.0;
  std::vector<double> buffer;
  for (const Barren& barren : barren_) sum += conditional(barren, x, buffer)[x[barren.variable]];
  return sum;
}

CompletedApproximation::CompletedApproximation(std::shared_ptr<const SummedModel> model,
                                               std::shared_ptr<const Approximation> left)
    : model_(std::move(model)), left_(std::move(left)) {}

Assignment CompletedApproximation::sample(Random& random) const {
  Assignment x = model_->spread(left_->sample(random));
  model_->draw(x, random);
  return x;
}

double CompletedApproximation::log_prob(std::span<const int> x) const {
  const double log_left = left_->log_prob(model_->left(x));
  return log_left == kNegInf ? kNegInf : log_left + model_->log_prob(x);
}

ExploredTree CompletedApproximation::explored_tree(std::size_t max_nodes) const {
  ExploredTree tree = left_->explored_tree(max_nodes);
  tree.rename([this](int v, int s) { return std::pair(model_->variable_of()[v], s); });
  return tree;
}

}  // namespace treesample
