// The log-values that a factor may have. There is one rule for C++ functions, programs and journals, and a wider one
// for tables.
//
// -inf means impossible. A finite value is at most kMaxLogValue: the numbers of the search with bounds
// (search/bound_values.hpp) end at 1.744e7 nats, and above that the search could say nothing about log Z. Tables may
// have larger values, because elimination has no such limit; a search that cannot bound log Z then says so. Negative
// values have no such limit: bounds are moved outward there, and a value below -kMaxLogValue acts as impossible beside
// others. kLargestMagnitude only keeps sums of finite values finite.
#pragma once

#include <optional>
#include <string>

namespace treesample {

inline constexpr double kMaxLogValue = 1.7e7;
inline constexpr double kLargestMagnitude = 1e300;

// What is wrong with a value, as the end of a sentence: "nan, allowed are -inf and numbers from -1e+300 to 17000000",
// "2.5, above its declared log_max of 0". Empty if the value is allowed.
std::string log_value_problem(double value, std::optional<double> log_max = {});
// The same for an entry of a table.
std::string table_value_problem(double value);

}  // namespace treesample
