// The way of an annealed chain: where it starts, and the temperatures that it passes.
//
//   gamma_b(x) = q(x)^(1 - b) g(x)^b,     0 = b_0 < b_1 < ... < b_T = 1
//
// The base q has independent variables: the factors with one variable, or beliefs of belief propagation mixed with
// these, whichever a few trial chains come further with. Temperatures are dense where log g - log q varies most among
// the trial chains, and their number doubles until the logarithm of a weight hardly varies, or until the time or the
// budget would pay for too few chains. Trial chains serve for nothing else: all that follows may depend on them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "evaluate/annealing_model.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// Eight chains; each array has an element per lane.
struct AnnealedBlock {
  double log_weight[kLanes] = {};   // log of w, whose mean is Z; -inf where the chain ended in an impossible state
  double log_density[kLanes] = {};  // log gamma_hat of x
  std::vector<int> x;               // [lane][variable]
  std::vector<double> chances;      // [state of all variables][lane]: mean conditional probabilities; may be empty
};

class AnnealingPath {
 public:
  // From the factors with one variable, with even temperatures. The graph must outlive it.
  explicit AnnealingPath(const FactorGraph& graph);

  // What is available: seconds for one chain's sweeps and all that follows, and sweeps that a budget pays for. Returns
  // the number of sweeps of single chains that were made. `should_stop` ends it with the path so far.
  struct Means {
    double seconds = 0.0;        // may be infinite
    double num_sweeps = 0.0;     // the same
    double chains_wanted = 0.0;  // at least
  };
  std::int64_t choose(const Means& means, std::uint64_t seed, StopCheck& stop);

  [[nodiscard]] const FactorGraph& graph() const { return soft_.graph(); }
  [[nodiscard]] const AnnealingModel& model() const { return soft_; }
  [[nodiscard]] int num_temperatures() const { return num_temperatures_; }
  void set_num_temperatures(int count) { num_temperatures_ = count; }
  [[nodiscard]] const std::string& base_text() const { return base_text_; }
  [[nodiscard]] bool has_zeros() const { return soft_.has_zeros(); }
  [[nodiscard]] double rounding(int num_temperatures) const { return soft_.rounding(num_temperatures); }

  // Chains from the base to the model, then `num_more` sweeps of the model itself, from which the chances come. False
  // where it was stopped.
  bool forward(int num_more, std::uint64_t seed, StopCheck& stop, AnnealedBlock& block) const;
  // The logarithm of the mean of eight numbers whose mean is at most 1 / Z if x is an exact sample: 1 / w of chains
  // from x back to the base. False where it was stopped.
  bool backward(std::span<const int> x, int num_temperatures, std::uint64_t seed, StopCheck& stop,
                double& log_inverse) const;

 private:
  // What trial chains show.
  struct Trial {
    double mean = 0.0, variance = 0.0;  // of the logarithm of the weight, impossible states being unlikely only
    std::vector<double> spread;         // standard deviation of log g - log q after each temperature
  };
  // False where it was stopped.
  bool try_out(int num_temperatures, int num_blocks, std::uint64_t seed, StopCheck& stop, Trial& trial) const;
  void choose_base(std::uint64_t seed, int num_temperatures, double seconds, StopCheck& stop, std::int64_t& num_sweeps);
  void space_out(const Trial& trial);
  [[nodiscard]] std::vector<double> temperatures(int count) const;  // b_0 to b_T

  AnnealingModel soft_, hard_;  // impossible states are unlikely, or next to impossible
  BaseLogProbs base_;
  std::string base_text_;
  std::vector<double> known_b_ = {0.0, 1.0}, length_ = {0.0, 1.0};  // length of the path up to b
  int num_temperatures_ = 1;
};

}  // namespace treesample
