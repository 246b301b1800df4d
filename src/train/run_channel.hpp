// The keys of a distributed run (train/distributed.hpp) as functions. What is read is opened (message_seal.hpp) and
// never used otherwise; RedisTrouble names the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/message_seal.hpp"
#include "train/redis_client.hpp"

namespace treesample {

// Numbers of episodes are drawn one by one, so that one this far beyond the highest that came is no number of this run.
inline constexpr std::uint64_t kMostNumbersAhead = std::uint64_t{1} << 20;

class RunChannel {
 public:
  // Throws kArgument when the server is on another machine and there is no secret, unless that is allowed; on this
  // machine it remarks on it.
  RunChannel(const RedisOptions& options, const RunCallbacks& callbacks);

  [[nodiscard]] RedisClient& client() { return client_; }
  [[nodiscard]] const MessageSeal& seal() const { return seal_; }
  [[nodiscard]] std::string key(const char* name) const { return prefix_ + name; }

  // The learner's side. `reset` forgets an older run of that name.
  void reset();
  void publish_options(const std::string& text);
  void publish_parameters(const std::string& network, std::int64_t version);
  // Workers get numbers from this one on; a counter that is further stays where it is. What is no such number, or
  // further than kMostNumbersAhead, is replaced.
  void start_numbers_at(std::uint64_t number);
  // Makes the stream such that workers can add to it. Returns the position to read from, `position` or the beginning.
  std::string repair_stream(const std::string& position);
  // Tells workers to leave, and the server to drop the keys after an hour.
  void announce_end();
  struct Entry {
    std::string position;
    std::string episode;  // sealed
  };
  // At most `max` entries after the position; waits up to `wait_seconds` for the first.
  std::vector<Entry> read_episodes(const std::string& position, int max, double wait_seconds);
  // Entries that a checkpoint holds need no room on the server.
  void forget(const std::vector<std::string>& positions);

  // The worker's side. Nothing when no learner has published the key.
  struct Head {
    std::string library_version;
    std::uint64_t fingerprint = 0;
    std::int64_t version = 0;
    bool is_done = false;
    bool has_learner = false;  // is there a lease?
  };
  std::optional<Head> head();
  std::optional<std::string> options_text() { return get("options"); }
  std::optional<std::string> parameters() { return get("parameters"); }
  std::uint64_t draw_number();
  void submit(const std::string& episode);  // of encode_episode

 private:
  void set(const char* name, std::string_view payload);
  void set_head(const char* state);
  [[nodiscard]] std::optional<std::string> open(const char* name, const RedisValue& value) const;
  std::optional<std::string> get(const char* name);
  std::string type_of(const char* name);

  std::string prefix_;
  RedisClient client_;
  MessageSeal seal_;
  std::uint64_t fingerprint_ = 0;
  std::int64_t version_ = 0;
};

}  // namespace treesample
