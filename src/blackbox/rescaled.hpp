// A surrogate of values in any unit.
//
// The others take values for logarithms of densities: a value that is many nats below the best one hardly counts. Where
// the best configuration is looked for, values may be costs in seconds or in millions. They are divided by a unit then,
// such that nine in ten of them are at most kSpread below the best one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "treesample/blackbox/surrogate.hpp"

namespace treesample {

class Rescaled final : public Surrogate {
 public:
  // `make` makes what learns from the divided values, again whenever the unit has changed much.
  Rescaled(Domain domain, const Noise& noise, MakeSurrogate make);

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] double unit() const override { return unit_; }
  void fit(const ToldValues& told, const ShouldStop& should_stop) override;
  void add(std::span<const int> x, double value) override { inner_->add(x, value / unit_); }
  void predict(std::span<const int> rows, std::span<Prediction> out) const override;
  void predict_means(std::span<const int> rows, std::span<double> means) const override;
  void predict_neighbours(std::span<const int> x, std::span<double> means) const override;
  [[nodiscard]] std::vector<std::optional<double>> held_out() const override;
  [[nodiscard]] std::unique_ptr<DrawnFunction> draw(Random& random) const override;

 private:
  Noise noise_;
  MakeSurrogate make_;
  double unit_ = 1.0;
  std::unique_ptr<Surrogate> inner_;
};

}  // namespace treesample
