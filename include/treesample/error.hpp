// The one exception of the library, and the checks that throw it.
//
// A message names the function or file, the argument, its value and what is allowed, so that it can be shown to a user
// unchanged: it is one line of printable text (treesample/text.hpp), whatever the names in it contain. The library
// never prints, exits or aborts.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace treesample {

enum class ErrorCode {
  kArgument,     // a caller passed something outside the documented range
  kParse,        // a file or text does not follow its format
  kIo,           // a file could not be read, a program or a server did not answer
  kWrite,        // a file could not be written
  kNumeric,      // a factor or network handed in NaN or +inf
  kResource,     // the request needs more memory than is allowed
  kInterrupted,  // the caller asked a wait to end
  kInternal,     // a broken invariant: a bug in this library
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string_view message);
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

// An error about one named option of a request (infer/options.hpp): "--name: message", or "--name is ...". Messages
// always use the names of the command line. Interfaces that offer options under other names, such as keywords of a
// language, read name and message separately.
class OptionError : public Error {
 public:
  OptionError(std::string option, std::string_view message, ErrorCode code = ErrorCode::kArgument);
  [[nodiscard]] const std::string& option() const noexcept { return option_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 private:
  std::string option_, message_;
};

// Throws kArgument unless low <= value <= high.
void check_range(std::string_view function, std::string_view argument, std::int64_t value, std::int64_t low,
                 std::int64_t high);
// Throws kArgument unless value is finite and low <= value.
void check_at_least(std::string_view function, std::string_view argument, double value, double low);
// Both throw kArgument with "function: message"; the second one only if the condition does not hold.
[[noreturn]] void throw_argument(std::string_view function, std::string_view message);
inline void check_argument(bool condition, std::string_view function, std::string_view message) {
  if (!condition) throw_argument(function, message);
}
// A legal log-value is any real number or -inf, never NaN or +inf.
inline bool is_log_value(double value) { return value < HUGE_VAL; }  // false for NaN too

// Checks an invariant of the library itself. Compiled out in release builds.
[[noreturn]] void throw_internal(const char* condition, const char* file, int line);
#if defined(TREESAMPLE_CHECKED)
#define TS_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::treesample::throw_internal(#condition, __FILE__, __LINE__))
#else
#define TS_ASSERT(condition) static_cast<void>(0)
#endif

}  // namespace treesample
