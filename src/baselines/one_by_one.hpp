// Evaluates configurations one after the other, and keeps their cost, the best of them, and the reason why the run
// ended.
#pragma once

#include <optional>
#include <utility>

#include "space/configuration_queue.hpp"
#include "space/run_watch.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

class OneByOne {
 public:
  // Keeps a reference to the graph. Throws kArgument, naming `phase`, if the budget does not pay for one configuration.
  OneByOne(const FactorGraph& graph, const Limits& limits, Observer observer, const char* phase);

  // The log density of x; none if the run is over.
  std::optional<double> ask(const Assignment& x);
  void end(StopReason reason) { stop_ = reason; }

  [[nodiscard]] std::int64_t num_asked() const { return num_asked_; }
  [[nodiscard]] std::optional<Configuration> best() const;
  // The largest rounding error of a density.
  [[nodiscard]] double log_error() const { return log_error_; }
  [[nodiscard]] RunReport report() const;

 private:
  [[nodiscard]] bool is_over();

  const char* phase_;
  bool has_only_tables_;
  RunWatch watch_;
  Budget budget_;
  ConfigurationQueue queue_;
  Configuration best_;
  double log_error_ = 0.0;
  std::int64_t num_asked_ = 0;
  std::optional<StopReason> stop_;
  std::optional<Error> error_;
};

Assignment uniform_configuration(const FactorGraph& graph, Random& random);

}  // namespace treesample
