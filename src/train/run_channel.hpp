// The keys of a distributed run (train/distributed.hpp) as functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/redis_client.hpp"

namespace treesample {

class RunChannel {
 public:
  RunChannel(const RedisOptions& options, const KeepGoing& keep_going);

  [[nodiscard]] RedisClient& client() { return client_; }

  // The learner's side. `reset` forgets an older run of that name.
  void reset();
  void publish_options(const std::string& text);
  void publish_parameters(const std::string& network, std::int64_t version);
  // Workers get numbers from this one on; a counter that is further stays where it is.
  void start_numbers_at(std::uint64_t number);
  // Tells workers to leave, and the server to drop the keys after an hour.
  void announce_end();
  struct Entry {
    std::string position;
    std::string episode;
  };
  // At most `max` entries after the position; waits up to `wait_seconds` for the first.
  std::vector<Entry> read_episodes(const std::string& position, int max, double wait_seconds);

  // The worker's side. Nothing when no learner has published the key.
  struct Head {
    std::uint64_t fingerprint = 0;
    std::int64_t version = 0;
    bool is_done = false;
  };
  std::optional<Head> head();
  std::optional<std::string> options_text();
  std::optional<std::string> parameters();
  std::uint64_t draw_number();
  void submit(const std::string& episode);

 private:
  [[nodiscard]] std::string key(const char* name) const { return prefix_ + name; }
  void set_head(const char* state);
  std::optional<std::string> get(const char* name);

  std::string prefix_;
  RedisClient client_;
  std::uint64_t fingerprint_ = 0;
  std::int64_t version_ = 0;
};

}  // namespace treesample
