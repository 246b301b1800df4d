// Says in a sentence which of the compared methods to take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace treesample::experiments {

// The errors of one method: for each budget those of its runs; smaller is better. None if there is no number.
struct MethodErrors {
  std::string title;
  std::vector<std::vector<double>> errors;  // by budget
};

// The method with the smallest mean error at each budget, and those that the runs cannot distinguish from it: their
// means differ by less than two standard errors of the difference. Empty if there are no numbers. `unit` is the unit of
// the budgets ("calls"), `measure` that of the errors ("total variation").
std::string verdict(const std::vector<MethodErrors>& methods, const std::vector<std::int64_t>& budgets,
                    const std::string& unit, const std::string& measure);

}  // namespace treesample::experiments
