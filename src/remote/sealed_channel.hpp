// The keys of one run on a server, all under "treesample:<run>:". Values are sealed when written (message_seal.hpp) and
// verified when read; unverified values are never used. RedisTrouble names the key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "remote/message_seal.hpp"
#include "remote/redis_client.hpp"

namespace treesample {

class SealedChannel {
 public:
  // Throws kArgument if the server is on another machine and there is no secret, unless that is allowed. If it is on
  // this machine, only a remark says so.
  SealedChannel(const RedisOptions& options, const RunCallbacks& callbacks);

  [[nodiscard]] RedisClient& client() { return client_; }
  [[nodiscard]] const MessageSeal& seal() const { return seal_; }
  [[nodiscard]] std::string key(const char* name) const { return prefix_ + name; }

  void set(const char* name, std::string_view payload);
  // None if there is no such key.
  std::optional<std::string> get(const char* name);
  // The verified content of a reply, if it has any.
  [[nodiscard]] std::optional<std::string> open(const char* name, const RedisValue& value) const;
  std::string type_of(const char* name);

 private:
  std::string prefix_;
  RedisClient client_;
  MessageSeal seal_;
};

}  // namespace treesample
