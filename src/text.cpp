#include "treesample/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace treesample {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t num_bytes = 0;  // 0 if the bytes are not UTF-8
};

// The first character of a text, which must not be empty. Overlong forms and surrogates are not UTF-8.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t num_bytes = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < num_bytes) return {};
  std::uint32_t code = byte(0) & (0xFFU >> (num_bytes + 1));
  for (std::size_t i = 1; i < num_bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const std::uint32_t lowest = num_bytes == 4 ? 0x10000 : num_bytes == 3 ? 0x800 : 0x80;
  if (code < lowest || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, num_bytes};
}

bool is_shown(std::uint32_t code) {
  const auto is_in = [code](std::uint32_t low, std::uint32_t high) { return code >= low && code <= high; };
  const bool is_control = code < 0x20 || is_in(0x7F, 0x9F);
  // Marks and overrides of writing direction, and the two separators whose codes lie between them.
  const bool is_direction = code == 0x061C || is_in(0x200E, 0x200F) || is_in(0x2028, 0x202E) || is_in(0x2066, 0x2069);
  return !is_control && !is_direction;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t num_bytes = first_character(text).num_bytes;
    if (num_bytes == 0) return false;
    text.remove_prefix(num_bytes);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto [code, num_bytes] = first_character(text);
    if (num_bytes > 0 && is_shown(code)) {
      shown += text.substr(0, num_bytes);
      text.remove_prefix(num_bytes);
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);  // after a bad byte, its continuation bytes are not UTF-8 either
    }
  }
  return shown;
}

std::string shortened(std::string_view text, std::size_t limit) {
  // Three bytes more, so that a character across the limit is still whole.
  std::string shown = printable(text.substr(0, limit + 3));
  if (shown.size() <= limit) return shown;
  while (limit > 0 && (static_cast<unsigned char>(shown[limit]) & 0xC0U) == 0x80U) --limit;
  shown.resize(limit);
  return shown + "...";
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string count_text(double log_count) {
  if (log_count < 13.8) return fmt::format("{:.0f}", std::exp(log_count));
  const double log10_count = log_count / std::log(10.0);
  return fmt::format("{:.1f}e{:.0f}", std::pow(10.0, log10_count - std::floor(log10_count)), std::floor(log10_count));
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024.0 && unit < 4; ++unit) bytes /= 1024.0;
  return bytes < 1e5 ? fmt::format("{:.1f} {}", bytes, units[unit]) : fmt::format("{:.0e} {}", bytes, units[unit]);
}

// Moves the value outward by half a unit of the text before it is rounded.
std::string decimal_bound(double value, double direction) {
  constexpr double kHalf = 0.50001e-6;
  if (!std::isfinite(value) || value == std::round(value)) return fixed(value);
  return fixed(std::nextafter(value + direction * kHalf, direction * HUGE_VAL));
}

std::string tolerance_text(double value, int num_digits) {
  double shown = value;
  std::string text = fmt::format("{:.{}g}", shown, num_digits);
  // strtod, unlike stod, accepts numbers outside of the range of a double: it returns infinity, or a number with few
  // digits.
  while (std::isfinite(shown) && value > 0.0 && std::strtod(text.c_str(), nullptr) <= value) {
    shown = std::nextafter(shown * (1.0 + 0.3 * std::pow(10.0, -num_digits)), HUGE_VAL);
    text = fmt::format("{:.{}g}", shown, num_digits);
  }
  return text;
}

std::string log_value_text(double value) {
  if (std::isinf(value) && value < 0.0) return "-inf";
  return fmt::format("{} (log10: {})", fixed(value), fixed(value / std::log(10.0)));
}

}  // namespace treesample
