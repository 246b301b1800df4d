#include "treesample/reduce/summed_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Rows of a conditional probability table add up to 1 within this, unless they were rounded when they were written.
constexpr double kConstant = 0x1.0p-44;
constexpr int kManyStates = 256;

struct Sums {
  double least = std::numeric_limits<double>::infinity(), most = kNegInf;
  bool has_impossible = false;  // true if there are rows of zeros
};

// The smallest and the largest sum over the variable with this stride, ignoring rows of zeros. None if they differ, or
// if there are only rows of zeros.
std::optional<Sums> constant_sums(const std::vector<double>& values, std::size_t stride, std::size_t num_states) {
  Sums sums;
  std::vector<double> row(num_states);
  for (std::size_t block = 0; block < values.size(); block += stride * num_states) {
    for (std::size_t i = block; i < block + stride; ++i) {
      for (std::size_t s = 0; s < num_states; ++s) row[s] = values[i + s * stride];
      const double sum = log_sum_exp(row);
      if (sum == kNegInf) {
        sums.has_impossible = true;
        continue;
      }
      sums.least = std::min(sums.least, sum);
      sums.most = std::max(sums.most, sum);
      if (sums.most - sums.least > kConstant) return {};
    }
  }
  return sums.most == kNegInf ? std::nullopt : std::optional(sums);
}

// The factor that remains without the variable at this place: 0, or -inf for a row of zeros.
Factor possible_rows(const FactorGraph& graph, const Factor& factor, std::size_t place, std::vector<int> scope) {
  const std::vector<int> states = states_of_scope(graph, factor.scope());
  const std::size_t stride = stride_at(states, place), row = stride * static_cast<std::size_t>(states[place]);
  const std::vector<double>& values = factor.log_values();
  std::vector<double> rows;
  for (std::size_t block = 0; block < values.size(); block += row) {
    for (std::size_t i = block; i < block + stride; ++i) {
      bool is_possible = false;
      for (std::size_t j = i; j < block + row; j += stride) is_possible = is_possible || values[j] != kNegInf;
      rows.push_back(is_possible ? 0.0 : kNegInf);
    }
  }
  return Factor::table(std::move(scope), std::move(rows));
}

}  // namespace

SummedModel::SummedModel(const FactorGraph& graph, int first, int first_with_zeros)
    : original_(graph), first_with_zeros_(first_with_zeros) {
  check_range("SummedModel", "first variable", first, 0, graph.num_variables());
  std::vector<char> is_left(static_cast<std::size_t>(graph.num_factors()), 1);
  remove_barren(first, is_left);
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
    std::optional<std::size_t> summed;
    for (const int v : graph.factor(m).scope()) {
      if (new_index[v] < 0) summed = scope.size();
      if (new_index[v] >= 0) scope.push_back(new_index[v]);
    }
    graph_.add_factor(summed ? possible_rows(graph, graph.factor(m), *summed, std::move(scope))
                             : graph.factor(m).with_scope(std::move(scope)));
  }
  if (log_constant_ != 0.0) graph_.add_factor(Factor::table_of_sums({}, {log_constant_}));
}

void SummedModel::remove_barren(int first, std::vector<char>& is_left) {
  CompensatedSum constant;
  // The number of factors that a variable has, and all their indices combined into one number. When one factor is left,
  // that number is its index.
  struct Factors {
    int count = 0, all = 0;
    void change(int m, int by) {
      count += by;
      all ^= m;
    }
  };
  std::vector<Factors> factors_of(static_cast<std::size_t>(original_.num_variables()));
  for (int m = 0; m < original_.num_factors(); ++m) {
    for (const int v : original_.factor(m).scope()) factors_of[v].change(m, 1);
  }
  std::vector<int> open;  // variables with at most one factor, to be examined
  for (int v = original_.num_variables(); v-- > first;) {
    if (factors_of[v].count <= 1) open.push_back(v);
  }
  std::vector<char> is_gone(factors_of.size(), 0), is_summed(is_left.size(), 0);
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (is_gone[v] != 0) continue;
    if (factors_of[v].count == 0) {
      barren_.push_back({.variable = v});
      is_gone[v] = 1;
      constant.add(std::log(original_.num_states(v)));
      continue;
    }
    const int m = factors_of[v].all;
    const Factor& factor = original_.factor(m);
    if (!factor.is_table() || is_summed[m] != 0) continue;
    const auto place = std::find(factor.scope().begin(), factor.scope().end(), v) - factor.scope().begin();
    const std::size_t stride = stride_at(states_of_scope(original_, factor.scope()), static_cast<std::size_t>(place));
    const auto num_states = static_cast<std::size_t>(original_.num_states(v));
    const std::optional<Sums> sums = constant_sums(factor.log_values(), stride, num_states);
    if (!sums || (sums->has_impossible && v < first_with_zeros_)) continue;
    barren_.push_back({.variable = v, .factor = m, .stride = stride, .log_sum = sums->least});
    if (is_wide(barren_.back())) barren_.back().cumulative = cumulative_rows(barren_.back());
    is_gone[v] = 1;
    is_summed[m] = 1;
    constant.add(sums->least);
    // The rounding of the sums, and the precision of the entries (math/compensated_sum.hpp). Entries far below the
    // largest one of their row do not count.
    const auto states = static_cast<double>(num_states);
    const double largest = std::max(std::abs(sums->least), std::abs(sums->most)) + std::log(states);
    log_slack_ += sums->most - sums->least + kEpsilon * (states + 18.0 + 4.0 * largest);
    if (sums->has_impossible) continue;  // the factor still has to say which rows are impossible
    is_left[m] = 0;
    for (const int u : factor.scope()) {
      factors_of[u].change(m, -1);
      if (u != v && u >= first && factors_of[u].count <= 1) open.push_back(u);
    }
  }
  log_constant_ = constant.value();
  log_slack_ += barren_.empty() ? 0.0 : constant.error();
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
  if (!(total > 0.0)) {  // a row of zeros
    x[barren.variable] = static_cast<int>(random.below(num_states));
    return -std::log(static_cast<double>(num_states));
  }
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
  for (double& value : buffer) value = largest == kNegInf ? 0.0 : value - largest;  // samplers may reach rows of zeros
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
