// Which of the compared methods to take, in a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace treesample::experiments {

// The errors of one method: for each budget those of its runs, smaller is better; none where there is no number.
struct MethodErrors {
  std::string title;
  std::vector<std::vector<double>> errors;  // by budget
};

// The method with the smallest mean error at each budget, beside those that the runs do not tell apart from it: their
// means differ by less than two standard errors of the difference. Empty where there are no numbers. `unit` is of the
// budgets ("calls"), `measure` of the errors ("total variation").
std::string verdict(const std::vector<MethodErrors>& methods, const std::vector<std::int64_t>& budgets,
                    const std::string& unit, const std::string& measure);

}  // namespace treesample::experiments
