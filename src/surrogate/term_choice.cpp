// Which terms a regression takes up and gives up.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "surrogate/term_features.hpp"
#include "surrogate/term_regression.hpp"

namespace treesample {
namespace {

constexpr std::size_t kShortlist = 200;  // terms of three variables that are scored again
constexpr std::size_t kFewestAdded = 3;  // terms that a round adds, if there are so many

// The largest gain in evidence by a term with this many features, and the variance at which it is reached.
std::pair<double, double> best_gain(double squared, double precision, double num_features) {
  const double ratio = squared / (precision * num_features);
  if (!(ratio > 1.0)) return {0.0, 0.0};
  return {0.5 * num_features * (ratio - 1.0 - std::log(ratio)), (ratio - 1.0) / precision};
}

}  // namespace

// From the posterior of an included term: Sigma_SS ~ (s + 1/v)^-1 I and beta_S ~ Q_S (s + 1/v)^-1.
double TermRegression::gain_of(std::size_t t) const {
  const RegressionTerm& term = terms_[t];
  const auto size = static_cast<double>(term.coefficients.size());
  const double total = size / trace_[t];
  const double precision = std::max(total - 1.0 / term.variance, 1e-12 * total);
  const double squared = term.coefficients.squaredNorm() * total * total;
  return best_gain(squared, precision, size).first;
}

bool TermRegression::give_up() {
  std::vector<RegressionTerm> kept;
  std::vector<Eigen::Index> columns{0};
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const bool stays = has_main_effects_ && terms_[t].scope.size() == 1;
    if (!stays && gain_of(t) < 1.0) continue;
    for (Eigen::Index c = 0; c < terms_[t].coefficients.size(); ++c) columns.push_back(first_[t] + c);
    kept.push_back(std::move(terms_[t]));
  }
  if (kept.size() == terms_.size()) {
    terms_ = std::move(kept);
    return false;
  }
  scaled_features_ = Eigen::MatrixXd(scaled_features_(Eigen::all, columns));
  gram_ = Eigen::MatrixXd(gram_(columns, columns));
  moments_ = Eigen::VectorXd(moments_(columns));
  mean_ = Eigen::VectorXd(mean_(columns));
  terms_ = std::move(kept);
  first_.clear();
  Eigen::Index first = 1;
  for (const RegressionTerm& term : terms_) {
    first_.push_back(first);
    first += term.coefficients.size();
  }
  residuals_ = scaled_values_;
  residuals_.noalias() -= scaled_features_ * mean_;
  return true;
}

// Sets of this order that contain a term with one variable less.
std::vector<std::vector<int>> TermRegression::extensions(std::size_t order) const {
  std::set<std::vector<int>> found;
  for (const RegressionTerm& term : terms_) {
    if (term.scope.size() + 1 != order) continue;
    for (int v = 0; v < data_.num_variables(); ++v) {
      std::vector<int> scope = term.scope;
      const auto place = std::lower_bound(scope.begin(), scope.end(), v);
      if (place != scope.end() && *place == v) continue;
      scope.insert(place, v);
      found.insert(std::move(scope));
    }
  }
  return {found.begin(), found.end()};
}

// Residuals are added up by cell and centred along each variable; |phi_S^T r|^2 is then prod K times the sum of their
// squares.
void TermRegression::score(const std::vector<std::vector<int>>& scopes, double num_competitors,
                           std::vector<Candidate>& found) const {
  std::set<std::vector<int>> present;
  for (const RegressionTerm& term : terms_) present.insert(term.scope);
  const Eigen::Index count = data_.num_points();
  const Eigen::VectorXd pull =
      residuals_.cwiseProduct(data_.weights.cwiseSqrt()) / noise_variance_;  // C^-1 y, by the matrix inversion lemma
  const double share_free = std::max(1.0 - num_determined_ / static_cast<double>(count), 0.05);
  const double precision = data_.weights.sum() / noise_variance_ * share_free;
  const double threshold = 1.0 + std::log(std::max(num_competitors, 1.0));
  std::vector<double> cells;
  std::vector<int> places(static_cast<std::size_t>(count));
  for (const std::vector<int>& scope : scopes) {
    const int size = num_features(scope);
    if (size == 0 || size > count / 6 || size > options_.max_features / 4 || present.contains(scope)) continue;
    std::size_t num_cells = 1;
    for (const int v : scope) num_cells *= static_cast<std::size_t>(data_.num_states[v]);
    cells.assign(num_cells, 0.0);
    std::fill(places.begin(), places.end(), 0);
    for (const int v : scope) {
      const int num_states = data_.num_states[v];
      const int* const column = columns_.data() + v * count;
      for (Eigen::Index i = 0; i < count; ++i) places[i] = places[i] * num_states + column[i];
    }
    for (Eigen::Index i = 0; i < count; ++i) cells[places[i]] += pull[i];
    std::size_t inner = num_cells;
    for (const int v : scope) {
      const auto k = static_cast<std::size_t>(data_.num_states[v]);
      inner /= k;
      for (std::size_t block = 0; block < num_cells; block += inner * k) {
        for (std::size_t j = 0; j < inner; ++j) {
          double mean = 0.0;
          for (std::size_t a = 0; a < k; ++a) mean += cells[block + a * inner + j];
          mean /= static_cast<double>(k);
          for (std::size_t a = 0; a < k; ++a) cells[block + a * inner + j] -= mean;
        }
      }
    }
    double squared = 0.0;
    for (const double cell : cells) squared += cell * cell;
    squared *= static_cast<double>(num_cells);
    const auto [gain, variance] = best_gain(squared, precision, size);
    if (gain > 0.0) found.push_back({scope, gain - threshold, variance});
  }
}

bool TermRegression::take_up(int max_order) {
  if (is_perfect()) return false;
  const auto best_first = [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; };
  const int num_variables = data_.num_variables();
  const double num_triples = num_variables * (num_variables - 1.0) * (num_variables - 2.0) / 6.0;
  std::vector<Candidate> found;
  for (int order = 1; order <= std::min(max_order, num_variables); ++order) {
    if (order == 3 && num_triples <= options_.max_triples) {
      // The first time, all of them are scored; from then on only those that looked best.
      const bool is_first = shortlist_.empty();
      std::vector<Candidate> triples;
      score(is_first ? subsets(num_variables, 3) : shortlist_, num_triples, triples);
      std::stable_sort(triples.begin(), triples.end(), best_first);
      for (std::size_t i = 0; is_first && i < std::min(triples.size(), kShortlist); ++i) {
        shortlist_.push_back(triples[i].scope);
      }
      found.insert(found.end(), triples.begin(), triples.end());
      continue;
    }
    const auto scopes = order <= 2 ? subsets(num_variables, order) : extensions(static_cast<std::size_t>(order));
    score(scopes, static_cast<double>(scopes.size()), found);
  }
  std::erase_if(found, [](const Candidate& candidate) { return candidate.gain <= 0.0; });
  std::stable_sort(found.begin(), found.end(), best_first);
  std::vector<RegressionTerm> added;
  Eigen::Index size = scaled_features_.cols();
  // If there are many terms, more are added at a time, because a round costs the cube of the number of features.
  const std::size_t most = std::max<std::size_t>(kFewestAdded, terms_.size() / 6);
  for (const Candidate& candidate : found) {
    const int more = num_features(candidate.scope);
    if (added.size() == most) break;
    if (size + more > options_.max_features) continue;
    size += more;
    added.push_back({candidate.scope, std::min(candidate.variance, value_variance_ / more), {}});
  }
  if (added.empty()) return false;
  append(std::move(added));
  return true;
}

}  // namespace treesample
