#include "blackbox/rescaled.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kSpread = 6.0;      // units
constexpr double kMostDeep = 0.1;    // share of the values that may be deeper
constexpr double kNewUnit = 1.5;     // by how much it changes before it is changed
constexpr double kLeastUnit = 1e-9;  // relative to the values

double unit_of(const ToldValues& told) {
  std::vector<double> values;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told.values[i] != kNegInf) values.push_back(told.values[i]);
  }
  if (values.empty()) return 1.0;
  const auto deep = values.begin() + static_cast<std::ptrdiff_t>(kMostDeep * static_cast<double>(values.size()));
  std::nth_element(values.begin(), deep, values.end());
  const double top = *std::max_element(deep, values.end());
  const double spread = 0.5 * top - 0.5 * *deep;  // halves: the difference may overflow
  return std::max(2.0 * (spread / kSpread), kLeastUnit * std::max(1e-290, std::abs(top)));
}

class Multiplied final : public DrawnFunction {
 public:
  Multiplied(std::vector<int> num_states, std::unique_ptr<DrawnFunction> inner, double unit)
      : DrawnFunction(std::move(num_states)), inner_(std::move(inner)), unit_(unit) {}
  void values(std::span<const int> rows, std::span<double> out) const override {
    inner_->values(rows, out);
    for (double& value : out) value *= unit_;
  }
  void neighbours(std::span<const int> x, std::span<double> out) const override {
    inner_->neighbours(x, out);
    for (double& value : out) value *= unit_;
  }

 private:
  std::unique_ptr<DrawnFunction> inner_;
  double unit_;
};

}  // namespace

Rescaled::Rescaled(Domain domain, const Noise& noise, MakeSurrogate make)
    : Surrogate(std::move(domain)), noise_(noise), make_(std::move(make)), inner_(make_(this->domain(), noise)) {}

void Rescaled::fit(const ToldValues& told, const ShouldStop& should_stop) {
  const double unit = unit_of(told);
  if (std::max(unit / unit_, unit_ / unit) > kNewUnit) {
    unit_ = unit;
    Noise noise = noise_;
    if (noise.sd) *noise.sd /= unit_;
    inner_ = make_(domain(), noise);
  }
  ToldValues divided = told;
  for (std::vector<double>* values : {&divided.values, &divided.known}) {
    for (double& value : *values) value /= unit_;
  }
  inner_->fit(divided, should_stop);
}

void Rescaled::predict(std::span<const int> rows, std::span<Prediction> out) const {
  inner_->predict(rows, out);
  for (Prediction& one : out) one = {one.mean * unit_, one.sd * unit_};
}

void Rescaled::predict_means(std::span<const int> rows, std::span<double> means) const {
  inner_->predict_means(rows, means);
  for (double& mean : means) mean *= unit_;
}

void Rescaled::predict_neighbours(std::span<const int> x, std::span<double> means) const {
  inner_->predict_neighbours(x, means);
  for (double& mean : means) mean *= unit_;
}

std::vector<std::optional<double>> Rescaled::held_out() const {
  std::vector<std::optional<double>> result = inner_->held_out();
  for (std::optional<double>& value : result) {
    if (value) *value *= unit_;
  }
  return result;
}

std::unique_ptr<DrawnFunction> Rescaled::draw(Random& random) const {
  return std::make_unique<Multiplied>(domain().num_states, inner_->draw(random), unit_);
}

}  // namespace treesample
