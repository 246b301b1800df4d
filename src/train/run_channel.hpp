// The keys of a distributed run (train/distributed.hpp) as functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "remote/redis_stream.hpp"
#include "remote/sealed_channel.hpp"

namespace treesample {

// Numbers of episodes are drawn one by one. So a number that is this far beyond the highest one received does not
// belong to this run.
inline constexpr std::uint64_t kMostNumbersAhead = std::uint64_t{1} << 20;

class RunChannel : public SealedChannel {
 public:
  using SealedChannel::SealedChannel;

  // The learner's functions. `reset` deletes an older run of that name.
  void reset();
  void publish_options(const std::string& text);
  void publish_parameters(const std::string& network, std::int64_t version);
  // Workers get numbers from this one on. A counter that is already further stays, unless it is not a number or more
  // than kMostNumbersAhead further; it is then replaced.
  void start_numbers_at(std::uint64_t number);
  // Makes sure that workers can add to the stream. Returns the position from which to read: `position` or the
  // beginning.
  std::string repair_episodes(const std::string& position) {
    return repair_stream(client(), key("episodes"), position);
  }
  // Tells the workers to leave and the server to drop the keys after an hour.
  void announce_end();
  // At most `max` entries after the position, sealed; waits up to `wait_seconds` for the first.
  std::vector<StreamEntry> read_episodes(const std::string& position, int max, double wait_seconds) {
    return read_stream(client(), key("episodes"), position, max, wait_seconds);
  }
  // Call it for entries that are in a checkpoint: they need no room on the server.
  void forget(const std::vector<std::string>& positions) { delete_entries(client(), key("episodes"), positions); }

  // The worker's functions. They return none if no learner has published the key.
  struct Head {
    std::string library_version;
    std::uint64_t fingerprint = 0;
    std::int64_t version = 0;
    bool is_done = false;
    bool has_learner = false;  // true if there is a lease
  };
  std::optional<Head> head();
  std::optional<std::string> options_text() { return get("options"); }
  std::optional<std::string> parameters() { return get("parameters"); }
  std::uint64_t draw_number();
  void submit(const std::string& episode);  // as encoded by encode_episode

 private:
  void set_head(const char* state);

  std::uint64_t fingerprint_ = 0;
  std::int64_t version_ = 0;
};

}  // namespace treesample
