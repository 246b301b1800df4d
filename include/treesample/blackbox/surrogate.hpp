// A guess of a black box at all configurations, made from the values that are known at a few.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "treesample/blackbox/domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/noise.hpp"
#include "treesample/stop.hpp"
#include "treesample/surrogate/learned_function.hpp"

namespace treesample {

// Of the log value of a configuration, without the noise of one evaluation.
struct Prediction {
  double mean = 0.0;
  double sd = 0.0;
};

// A function that may be the true one, as far as a surrogate can tell.
class DrawnFunction {
 public:
  virtual ~DrawnFunction() = default;
  DrawnFunction(const DrawnFunction&) = delete;
  DrawnFunction& operator=(const DrawnFunction&) = delete;

  // `rows` holds out.size() configurations.
  virtual void values(std::span<const int> rows, std::span<double> out) const = 0;
  // In the order of Surrogate::predict_neighbours. Here: one value after the other.
  virtual void neighbours(std::span<const int> x, std::span<double> out) const;

 protected:
  explicit DrawnFunction(std::vector<int> num_states) : num_states_(std::move(num_states)) {}
  [[nodiscard]] const std::vector<int>& num_states() const { return num_states_; }

 private:
  std::vector<int> num_states_;
};

// A surrogate learns from the finite values, and predicts what a value would be if it is finite. Whether it is, another
// model guesses (blackbox/possibility.hpp). Before the first fit, and as long as no value is finite, everything is
// predicted as 0 with standard deviation 1. The same values told in the same order give the same bits.
class Surrogate {
 public:
  // Throws Error (kArgument) where the domain is not valid.
  explicit Surrogate(Domain domain) : domain_(std::move(domain)) { domain_.validate(); }
  virtual ~Surrogate() = default;
  Surrogate(const Surrogate&) = delete;
  Surrogate& operator=(const Surrogate&) = delete;

  [[nodiscard]] const Domain& domain() const { return domain_; }
  [[nodiscard]] virtual std::string name() const = 0;

  // A difference of values that counts as a nat does in a log density.
  [[nodiscard]] virtual double unit() const { return 1.0; }

  // Learns from these values alone; what was told before is forgotten, but may be where the fit begins. Ends early,
  // with what it has, when it is asked to stop. Throws what ToldValues::validate throws.
  virtual void fit(const ToldValues& told, const ShouldStop& should_stop) = 0;
  // One more value, with parameters as they were fitted: much faster than a fit. Only after a fit. Throws what
  // ToldValues::add throws.
  virtual void add(std::span<const int> x, double value) = 0;

  // `rows` holds out.size() configurations.
  virtual void predict(std::span<const int> rows, std::span<Prediction> out) const = 0;
  // The means alone, which may take much less time. Here: those of predict.
  virtual void predict_means(std::span<const int> rows, std::span<double> means) const;
  // The part of the guess that is a sum of tables of few variables; null where there is none.
  [[nodiscard]] virtual const LearnedTerms* terms() const { return nullptr; }
  // For each value of the last fit, the prediction without it; none where it was not used.
  [[nodiscard]] virtual std::vector<std::optional<double>> held_out() const { return {}; }
  // The means at all configurations of the domain, the last variable changing fastest.
  virtual void predict_all(std::span<double> means) const;
  // The means at all configurations that differ from x in one variable at most: a number for each state of the first
  // variable, then of the second one, ... Here: one prediction after the other.
  virtual void predict_neighbours(std::span<const int> x, std::span<double> means) const;
  // A function drawn from what is believed after these values. It refers to the surrogate, and is of no use after the
  // next fit or value. Here: the mean.
  [[nodiscard]] virtual std::unique_ptr<DrawnFunction> draw(Random& random) const;

 protected:
  // Throw Error (kArgument) where the sizes do not fit together.
  void check_rows(const char* function, std::span<const int> rows, std::size_t count) const;
  void check_all(const char* function, std::size_t count) const;

 private:
  Domain domain_;
};

using MakeSurrogate = std::function<std::unique_ptr<Surrogate>(const Domain&, const Noise&)>;

}  // namespace treesample
