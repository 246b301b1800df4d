// A connection to a Redis server that survives restarts of the server. Only this room and its source file use hiredis
// directly.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/remote/redis_options.hpp"

struct redisContext;

namespace treesample {

struct RedisValue {
  enum class Kind { kNil, kText, kInteger, kArray };
  Kind kind = Kind::kNil;
  std::string text;
  std::int64_t integer = 0;
  std::vector<RedisValue> items;

  [[nodiscard]] bool is_nil() const { return kind == Kind::kNil; }
};

// The parts of an address.
struct RedisAddress {
  std::string host;  // or the path of a Unix socket
  int port = 6379;
  bool is_unix = false;
  bool is_tls = false;
  std::string user;
  std::string password;
};
// Throws kArgument naming the address (without the password) and what is allowed.
RedisAddress parse_redis_address(const std::string& address);

// True if the server is on this machine, so that nobody else can see or change the messages. The address alone decides:
// no names are looked up.
bool is_local(const RedisAddress& address);

// Thrown inside the room when keep_going ends a wait.
struct RedisInterrupted {};

// Something on the server is wrong and may be repaired: it is full, a key has another type, or a message does not
// verify. Callers that can wait try again. For others it is an Error like any other.
class RedisTrouble : public Error {
 public:
  explicit RedisTrouble(const std::string& message) : Error(ErrorCode::kIo, message) {}
};

class RedisClient {
 public:
  RedisClient(const RedisOptions& options, RunCallbacks callbacks);
  ~RedisClient();
  RedisClient(const RedisClient&) = delete;
  RedisClient& operator=(const RedisClient&) = delete;

  // Sends a command and waits for the answer. Without a connection, it connects first. If the connection breaks, it
  // connects again, with pauses of 50 ms doubling to 5 s, and repeats the command, which may then have been carried out
  // twice. Throws kIo if the patience is at its end or the server refuses login or permission, RedisTrouble if it
  // answers with another error, and RedisInterrupted if keep_going returns false.
  RedisValue command(const std::vector<std::string_view>& arguments);
  // Makes one attempt, and only if there is a connection: for cleaning up at the end.
  void command_if_connected(const std::vector<std::string_view>& arguments) noexcept;
  // Makes one attempt, after one attempt to connect if there is no connection: for commands that may be skipped.
  void command_once(const std::vector<std::string_view>& arguments) noexcept;

  // The number of connections so far. If it changes, the server may have lost everything.
  [[nodiscard]] std::int64_t num_connections() const { return num_connections_; }
  // Pauses for this long, asking keep_going in between.
  void pause(double seconds) const;
  void remark(const std::string& text) const {
    if (callbacks_.remark) callbacks_.remark(text);
  }
  [[nodiscard]] const RedisAddress& address() const { return address_; }

 private:
  bool try_connect();
  bool log_in();
  RedisValue send(const std::vector<std::string_view>& arguments, bool& is_broken);
  void wait_for_answer() const;
  void ask_keep_going() const {
    if (callbacks_.keep_going && !callbacks_.keep_going()) throw RedisInterrupted{};
  }

  RedisOptions options_;
  RedisAddress address_;
  RunCallbacks callbacks_;
  struct Tls;
  std::unique_ptr<Tls> tls_;
  struct Close {
    void operator()(redisContext* context) const;
  };
  std::unique_ptr<redisContext, Close> context_;
  std::string last_error_;
  std::int64_t num_connections_ = 0;
};

}  // namespace treesample
