// Streams on a server: reads them, and repairs one to which nothing can be added any more.
#pragma once

#include <string>
#include <vector>

#include "remote/redis_client.hpp"

namespace treesample {

inline constexpr const char* kStreamBeginning = "0-0";

struct StreamEntry {
  std::string position;
  std::string content;  // of its only field; empty if the entry has another form
};

// Parses [[position, [field, content]], ...], the answer of XREAD, XREADGROUP and XAUTOCLAIM. Deleted entries are left
// out.
std::vector<StreamEntry> stream_entries(const RedisValue& list);

// Returns at most `max` entries after the position; waits up to `wait_seconds` for the first.
std::vector<StreamEntry> read_stream(RedisClient& client, const std::string& key, const std::string& position, int max,
                                     double wait_seconds);

void delete_entries(RedisClient& client, const std::string& key, const std::vector<std::string>& positions);

// Deletes the key, with a remark, if it is not a stream or has the last possible ID. Returns the position from which to
// read: `position`, or the beginning if the stream is a new one.
std::string repair_stream(RedisClient& client, const std::string& key, const std::string& position);

}  // namespace treesample
