#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

#include "remote/redis_client.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr const char* kAllowed =
    "allowed are redis://[user[:password]@]host[:port], rediss://..., host[:port] and unix:PATH";

// The message shows only the part after the last '@', because the part before may contain a password.
[[noreturn]] void fail(const std::string& address, const char* what) {
  const std::size_t at = address.rfind('@');
  const std::string shown = at == std::string::npos ? address : "...@" + address.substr(at + 1);
  throw Error(ErrorCode::kArgument, fmt::format("redis address '{}': {}; {}", shown, what, kAllowed));
}

std::string decode_percent(const std::string& address, std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    unsigned value = 0;
    const char* const begin = text.data() + i + 1;
    const char* const end = text.data() + std::min(i + 3, text.size());
    if (std::from_chars(begin, end, value, 16).ptr != begin + 2) fail(address, "'%' needs two hexadecimal digits");
    decoded.push_back(static_cast<char>(value));
    i += 2;
  }
  return decoded;
}

}  // namespace

RedisAddress parse_redis_address(const std::string& address) {
  RedisAddress result;
  std::string_view rest = address;
  if (rest.starts_with("unix:")) {
    rest.remove_prefix(5);
    if (rest.starts_with("//")) rest.remove_prefix(2);
    if (rest.empty()) fail(address, "the path is missing");
    result.is_unix = true;
    result.host = rest;
    return result;
  }
  result.is_tls = rest.starts_with("rediss://");
  const std::size_t scheme = rest.find("://");
  if (scheme != std::string_view::npos) {
    if (rest.substr(0, scheme) != "redis" && !result.is_tls) fail(address, "the scheme is unknown");
    rest.remove_prefix(scheme + 3);
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = rest.substr(0, at);
    const std::size_t colon = login.find(':');
    result.user = decode_percent(address, login.substr(0, colon));
    if (colon != std::string_view::npos) result.password = decode_percent(address, login.substr(colon + 1));
    rest.remove_prefix(at + 1);
  }
  const bool has_brackets = rest.starts_with('[') && rest.find(']') != std::string_view::npos;  // [::1]:6379
  const std::size_t host_end = has_brackets ? rest.find(']') + 1 : std::min(rest.find(':'), rest.size());
  result.host = has_brackets ? rest.substr(1, host_end - 2) : rest.substr(0, host_end);
  if (result.host.empty()) fail(address, "the host is missing");
  rest.remove_prefix(host_end);
  if (rest.empty()) return result;
  const char* const end = rest.data() + rest.size();
  const auto [parsed, error] = std::from_chars(rest.data() + 1, end, result.port);
  if (rest[0] != ':' || error != std::errc() || parsed != end || result.port < 1 || result.port > 65535) {
    fail(address, "the port is not a number from 1 to 65535");
  }
  return result;
}

bool is_local(const RedisAddress& address) {
  if (address.is_unix || address.host == "localhost" || address.host == "::1") return true;
  in_addr number{};
  constexpr std::uint32_t kLoopback = 127;  // 127.0.0.0/8
  return inet_pton(AF_INET, address.host.c_str(), &number) == 1 && ntohl(number.s_addr) >> 24U == kLoopback;
}

void RedisOptions::validate() const {
  const RedisAddress parsed = parse_redis_address(address);
  check_argument(!run.empty() && run.size() <= 200, "RedisOptions", "the name of the run is empty or too long");
  check_at_least("RedisOptions", "patience_seconds", patience_seconds, 0.0);
  check_argument(
      !parsed.is_tls || has_redis_tls(), "RedisOptions",
      "rediss:// needs a hiredis with TLS (1.0 or later with libhiredis_ssl), which this build does not have");
}

}  // namespace treesample
