// Keeps account of what the workers send, for people to read: who sent episodes, whose episodes were refused and why,
// and how long ago the last one came.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "stopwatch.hpp"

namespace treesample {

class Arrivals {
 public:
  explicit Arrivals(std::function<void(const std::string&)> remark) : remark_(std::move(remark)) {}

  void accept(const std::string& worker);
  // Counts a refusal. Reports the first at once, later ones at most every kRefusalSeconds.
  void refuse(const std::string& worker, const std::string& reason);
  // Reports at growing intervals that nothing arrives. `state` says how far the run is.
  void tell_when_waiting(const std::string& state);

  // Seconds since the last accepted episode, or since the start.
  [[nodiscard]] double seconds_without() const;
  [[nodiscard]] const std::map<std::string, std::int64_t>& refused_by_worker() const { return refused_; }
  [[nodiscard]] const std::string& last_reason() const { return last_reason_; }

 private:
  std::function<void(const std::string&)> remark_;
  std::set<std::string> accepted_;
  std::map<std::string, std::int64_t> refused_;
  std::string last_reason_;
  std::int64_t num_refused_ = 0;
  Clock::time_point last_accepted_ = Clock::now();
  Clock::time_point last_told_refusal_ = {};
  double next_notice_ = 0.0;  // seconds without an episode; 0 if not yet set
};

}  // namespace treesample
