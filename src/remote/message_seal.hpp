// Messages that others cannot forge: HMAC-SHA256 (OpenSSL) over the kind of a message, its run and its content.
//
//   sealed = payload, HMAC-SHA256(key, "treesample 1 <kind> <run>\0" payload)
//
// The seal covers kind and run, so that a message cannot be taken for one of another kind or run. Without a secret the
// key is a text that everybody knows, and the seal detects only damage, not forgery.
#pragma once

#include <string>
#include <string_view>

#include "treesample/remote/redis_options.hpp"

namespace treesample {

// The secret with which a run's messages are sealed: the first of key_file, the environment variable TREESAMPLE_KEY and
// the password of the server. Empty if there is none. Throws kIo and kArgument naming file or variable: a key file must
// be a regular file that only its owner may read, and a key must have 16 bytes or more.
std::string run_secret(const RedisOptions& options, const std::string& password);

class MessageSeal {
 public:
  static constexpr std::size_t kBytes = 32;

  MessageSeal(std::string secret, std::string run) : secret_(std::move(secret)), run_(std::move(run)) {}

  [[nodiscard]] bool has_secret() const { return !secret_.empty(); }
  [[nodiscard]] std::string seal(std::string_view kind, std::string_view payload) const;
  // The payload, a part of `sealed`. Throws kParse if the seal does not match. The comparison takes the same time
  // wherever the seals differ.
  [[nodiscard]] std::string_view open(std::string_view kind, std::string_view sealed) const;

 private:
  [[nodiscard]] std::string code(std::string_view kind, std::string_view payload) const;

  std::string secret_;
  std::string run_;
};

// Bytes from the system's source of randomness, as hexadecimal digits. For names that must differ; they never affect a
// result.
std::string random_token();

}  // namespace treesample
