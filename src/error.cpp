#include "treesample/error.hpp"

#include <fmt/format.h>

#include "treesample/text.hpp"

namespace treesample {

// Limits messages, even one that quotes everything a program has printed.
constexpr std::size_t kMaxMessageBytes = 10'000;

Error::Error(ErrorCode code, std::string_view message)
    : std::runtime_error(shortened(message, kMaxMessageBytes)), code_(code) {}

OptionError::OptionError(std::string option, std::string_view message, ErrorCode code)
    : Error(code, fmt::format("--{}{} {}", option, message.starts_with("is ") ? "" : ":", message)),
      option_(std::move(option)),
      message_(shortened(message, kMaxMessageBytes)) {}

void check_range(std::string_view function, std::string_view argument, std::int64_t value, std::int64_t low,
                 std::int64_t high) {
  if (value < low || value > high) {
    throw Error(ErrorCode::kArgument,
                fmt::format("{}: {} is {}, allowed are {} to {}", function, argument, value, low, high));
  }
}

void check_at_least(std::string_view function, std::string_view argument, double value, double low) {
  if (!std::isfinite(value) || value < low) {
    throw Error(ErrorCode::kArgument,
                fmt::format("{}: {} is {}, allowed are finite values from {} up", function, argument, value, low));
  }
}

void throw_argument(std::string_view function, std::string_view message) {
  throw Error(ErrorCode::kArgument, fmt::format("{}: {}", function, message));
}

void throw_internal(const char* condition, const char* file, int line) {
  throw Error(ErrorCode::kInternal, fmt::format("internal error: {} does not hold ({}:{})", condition, file, line));
}

}  // namespace treesample
