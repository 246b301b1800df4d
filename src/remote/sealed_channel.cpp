#include "remote/sealed_channel.hpp"

#include <fmt/format.h>

namespace treesample {

SealedChannel::SealedChannel(const RedisOptions& options, const RunCallbacks& callbacks)
    : prefix_(fmt::format("treesample:{}:", options.run)),
      client_(options, callbacks),
      seal_(run_secret(options, client_.address().password), options.run) {
  if (seal_.has_secret()) return;
  const std::string what = "there is neither a password nor a key: whoever can write to the server can change the run";
  check_argument(options.allow_no_secret || is_local(client_.address()), "--redis",
                 fmt::format("'{}' is on another machine, and {}; give --key-file or --password-file (or --insecure)",
                             client_.address().host, what));
  client_.remark(fmt::format("{} (--key-file FILE seals it)", what));
}

void SealedChannel::set(const char* name, std::string_view payload) {
  client_.command({"SET", key(name), seal_.seal(name, payload)});
}

std::optional<std::string> SealedChannel::open(const char* name, const RedisValue& value) const {
  if (value.kind != RedisValue::Kind::kText) return std::nullopt;
  try {
    return std::string(seal_.open(name, value.text));
  } catch (const Error& error) {
    throw RedisTrouble(fmt::format("key {}: {}", key(name), error.what()));
  }
}

std::optional<std::string> SealedChannel::get(const char* name) {
  return open(name, client_.command({"GET", key(name)}));
}

std::string SealedChannel::type_of(const char* name) { return client_.command({"TYPE", key(name)}).text; }

}  // namespace treesample
