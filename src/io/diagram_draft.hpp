// The decisions and utilities of an influence diagram while its file is read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "treesample/model/decision_model.hpp"

namespace treesample {

class DiagramDraft {
 public:
  void decide(int variable, std::vector<int> known) { decisions_.push_back({variable, std::move(known)}); }
  [[nodiscard]] bool has_utility(const std::string& name) const { return utilities_.contains(name); }
  // Without values until set_utility().
  void declare_utility(const std::string& name) { utilities_[name]; }
  void set_utility(const std::string& name, std::vector<int> scope, std::vector<double> values) {
    utilities_[name] = {{std::move(scope), std::move(values)}, true};
  }
  // Multiplies all values.
  void weigh_utility(const std::string& name, double weight) {
    for (double& value : utilities_[name].first.values) value *= weight;
  }
  // The name of a utility without values; empty if there is none.
  [[nodiscard]] std::string missing() const;
  // The decisions are put into their order in time.
  DecisionModel finish(FactorGraph graph) &&;

 private:
  std::vector<Decision> decisions_;
  std::map<std::string, std::pair<Utility, bool>> utilities_;  // and whether there are values
};

// A finite number; none for any other token.
std::optional<double> utility_of(std::string_view token);

}  // namespace treesample
