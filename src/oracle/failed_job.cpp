#include "oracle/failed_job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/model/log_value.hpp"

namespace treesample {

Error final_error(const std::exception_ptr& failure, const std::string& subject, int num_failures) {
  ErrorCode code = ErrorCode::kIo;
  std::string reason = "an exception that is not a std::exception";
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    const bool is_of_caller = error.code() == ErrorCode::kParse || error.code() == ErrorCode::kArgument;
    code = is_of_caller ? ErrorCode::kIo : error.code();
    reason = error.what();
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
  }
  const std::string times = num_failures == 1 ? "" : fmt::format(" {} times, the last time", num_failures);
  return {code, fmt::format("{} failed{}: {}", subject, times, reason)};
}

std::string value_problem(const Evaluation& value, std::size_t scope_size) {
  std::string problem = log_value_problem(value.log_value);
  if (!problem.empty() || !value.witness) return problem;
  const auto outside = std::find_if(value.witness->begin(), value.witness->end(),
                                    [&](int place) { return place < 0 || place >= static_cast<int>(scope_size); });
  if (outside == value.witness->end()) return "";
  return fmt::format("{} with a witness that names {}, which is no place in the scope", value.log_value, *outside);
}

}  // namespace treesample
