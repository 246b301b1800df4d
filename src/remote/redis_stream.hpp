// Streams of a server: reading them, and repairing one that nobody can add to any more.
#pragma once

#include <string>
#include <vector>

#include "remote/redis_client.hpp"

namespace treesample {

inline constexpr const char* kStreamBeginning = "0-0";

struct StreamEntry {
  std::string position;
  std::string content;  // of its only field; empty when the entry has another form
};

// [[position, [field, content]], ...], as XREAD, XREADGROUP and XAUTOCLAIM answer; entries that were deleted are left
// out.
std::vector<StreamEntry> stream_entries(const RedisValue& list);

// At most `max` entries after the position; waits up to `wait_seconds` for the first.
std::vector<StreamEntry> read_stream(RedisClient& client, const std::string& key, const std::string& position, int max,
                                     double wait_seconds);

void delete_entries(RedisClient& client, const std::string& key, const std::vector<std::string>& positions);

// Deletes the key, with a remark, when it is not a stream or has the last possible ID. Returns the position to read
// from: `position`, or the beginning when the stream is a new one.
std::string repair_stream(RedisClient& client, const std::string& key, const std::string& position);

}  // namespace treesample
