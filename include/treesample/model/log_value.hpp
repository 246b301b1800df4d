// Which log-values a factor may have: one rule for tables, C++ functions, programs and journals.
//
// -inf is impossible. A finite value is at most kMaxLogValue: the numbers of the search with bounds
// (search/bound_values.hpp) end at 1.744e7 nats, and above that it could say nothing about log Z. Far down
// there is no such limit, because bounds are moved outward there: a value below -kMaxLogValue acts as
// impossible beside others. kMinLogValue only keeps sums of finite values finite.
#pragma once

#include <optional>
#include <string>

namespace treesample {

inline constexpr double kMaxLogValue = 1.7e7;
inline constexpr double kMinLogValue = -1e300;

// What is wrong with a value, as the end of a sentence: "nan, allowed are -inf and numbers from -1e+300 to
// 17000000", "2.5, above its declared log_max of 0". Empty when nothing is.
std::string log_value_problem(double value, std::optional<double> log_max = {});

}  // namespace treesample
