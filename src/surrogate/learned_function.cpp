#include "treesample/surrogate/learned_function.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "surrogate/term_regression.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::size_t kMostPoints = 4000;  // values in a regression
constexpr double kAnewGrowth = 1.5;        // growth of the number of values after which it fits from scratch
constexpr int kRoundsAgain = 10;           // rounds of a regression that begins with the terms of the last one
constexpr double kWeightScale = 8.0;       // nats below the best over which a value's weight falls by the factor e ...
constexpr double kLeastWeight = 0.02;      // ... but it falls no lower than this
constexpr double kLowQuantile = 0.05;      // values below this quantile are hardly distinguished
constexpr double kMostDepth = 1e7;         // no value counts as further below the best than this
constexpr double kLeastDepth = 10.0;       // impossible states count as at least this far below that quantile

}  // namespace

class LearnedFunction::Impl {
 public:
  explicit Impl(std::vector<int> num_states) { data_.num_states = std::move(num_states); }

  void add(std::span<const int> states, double log_value, double log_density) {
    states_.insert(states_.end(), states.begin(), states.end());
    values_.push_back(log_value);
    densities_.push_back(log_density);
  }
  [[nodiscard]] std::int64_t num_values() const { return std::ssize(values_); }

  void use(std::unique_ptr<TermRegression> regression) {
    regression_ = std::move(regression);
    learned_ = tables(regression_->terms(), regression_->constant());
  }
  // Begins with the terms of the last fit. As long as these do not explain everything, it also begins from scratch; the
  // better fit is used.
  void fit(const ShouldStop& should_stop) {
    if (!choose_points()) return;
    const RegressionOptions options{.should_stop = should_stop};
    RegressionOptions first = options;
    if (regression_) first.num_rounds = kRoundsAgain;
    auto best = std::make_unique<TermRegression>(
        data_, regression_ ? regression_->terms() : std::vector<RegressionTerm>(), first);
    const bool is_due = static_cast<double>(num_values()) >= kAnewGrowth * static_cast<double>(num_anew_);
    if (!regression_) num_anew_ = num_values();
    if (regression_ && is_due && !best->is_perfect()) {
      num_anew_ = num_values();
      auto anew = std::make_unique<TermRegression>(data_, std::vector<RegressionTerm>(), options);
      if (anew->log_evidence() > best->log_evidence()) best = std::move(anew);
    }
    use(std::move(best));
  }
  void keep(const std::vector<std::size_t>& kept) {
    if (!regression_) return;
    std::vector<RegressionTerm> terms;
    for (const std::size_t t : kept) terms.push_back(regression_->terms()[t]);
    const RegressionOptions options{.num_rounds = 3, .is_open = false};
    use(std::make_unique<TermRegression>(data_, std::move(terms), options));
  }
  [[nodiscard]] const LearnedTerms& learned() const { return learned_; }
  [[nodiscard]] LearnedTerms draw(Random& random) const {
    if (!regression_) return learned_;
    double constant = 0.0;
    const std::vector<RegressionTerm> terms = regression_->draw(random, &constant);
    return tables(terms, constant);
  }

 private:
  bool choose_points();
  [[nodiscard]] double lowest() const;
  [[nodiscard]] LearnedTerms tables(const std::vector<RegressionTerm>& terms, double constant) const;

  std::vector<int> states_;
  std::vector<double> values_, densities_;
  RegressionData data_;
  std::unique_ptr<TermRegression> regression_;  // of data_
  LearnedTerms learned_;
  std::int64_t num_anew_ = 0;  // number of values when it was last fitted from scratch
};

// The value that stands for impossible states, and for others that are very low.
double LearnedFunction::Impl::lowest() const {
  std::vector<double> finite;
  std::copy_if(values_.begin(), values_.end(), std::back_inserter(finite), [](double y) { return y != kNegInf; });
  std::sort(finite.begin(), finite.end());
  const double low = finite[static_cast<std::size_t>(kLowQuantile * static_cast<double>(finite.size() - 1))];
  return std::max(low - std::max(kLeastDepth, finite.back() - low), finite.back() - kMostDepth);
}

// Chooses all points or, if there are too many, the best half and an even selection of the others.
bool LearnedFunction::Impl::choose_points() {
  if (std::all_of(values_.begin(), values_.end(), [](double y) { return y == kNegInf; })) return false;
  std::vector<std::size_t> order(values_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > kMostPoints) {
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return densities_[a] > densities_[b]; });
    const std::size_t half = kMostPoints / 2;
    const double step = static_cast<double>(order.size() - half) / static_cast<double>(half);
    for (std::size_t i = 0; i < half; ++i)
      order[half + i] = order[half + static_cast<std::size_t>(step * static_cast<double>(i))];
    order.resize(kMostPoints);
    std::sort(order.begin(), order.end());
  }
  const double floor = lowest();
  const double best = *std::max_element(densities_.begin(), densities_.end());
  const std::size_t width = data_.num_states.size();
  data_.states.clear();
  data_.values.resize(static_cast<Eigen::Index>(order.size()));
  data_.weights.resize(static_cast<Eigen::Index>(order.size()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t p = order[i];
    data_.states.insert(data_.states.end(), states_.begin() + static_cast<std::ptrdiff_t>(p * width),
                        states_.begin() + static_cast<std::ptrdiff_t>((p + 1) * width));
    const auto row = static_cast<Eigen::Index>(i);
    data_.values[row] = std::max(values_[p], floor);
    const double depth = densities_[p] == kNegInf || best == kNegInf ? kNegInf : (densities_[p] - best) / kWeightScale;
    data_.weights[row] = std::exp(depth) + kLeastWeight;
  }
  return true;
}

LearnedTerms LearnedFunction::Impl::tables(const std::vector<RegressionTerm>& terms, double constant) const {
  LearnedTerms result{.constant = constant};
  for (const RegressionTerm& term : terms) {
    result.terms.push_back({term.scope, term_table(term, data_.num_states), term.coefficients.norm()});
  }
  return result;
}

LearnedFunction::LearnedFunction(std::vector<int> num_states) : impl_(std::make_unique<Impl>(std::move(num_states))) {}
LearnedFunction::~LearnedFunction() = default;
LearnedFunction::LearnedFunction(LearnedFunction&& other) noexcept = default;
LearnedFunction& LearnedFunction::operator=(LearnedFunction&& other) noexcept = default;
void LearnedFunction::add(std::span<const int> states, double log_value, double log_density) {
  impl_->add(states, log_value, log_density);
}
std::int64_t LearnedFunction::num_values() const { return impl_->num_values(); }
void LearnedFunction::fit(const ShouldStop& should_stop) { impl_->fit(should_stop); }
void LearnedFunction::keep(const std::vector<std::size_t>& terms) { impl_->keep(terms); }
const LearnedTerms& LearnedFunction::learned() const { return impl_->learned(); }
LearnedTerms LearnedFunction::draw(Random& random) const { return impl_->draw(random); }

}  // namespace treesample
