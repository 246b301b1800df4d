#include "remote/redis_stream.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace treesample {
namespace {

// Parses <milliseconds>-<number> into two numbers.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_position(const std::string& text) {
  std::pair<std::uint64_t, std::uint64_t> position;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, position.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, position.second);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return position;
}

}  // namespace

std::vector<StreamEntry> stream_entries(const RedisValue& list) {
  std::vector<StreamEntry> entries;
  for (const RedisValue& entry : list.items) {
    if (entry.items.empty()) continue;
    const bool is_whole = entry.items.size() == 2 && entry.items[1].items.size() == 2;
    entries.push_back({entry.items[0].text, is_whole ? entry.items[1].items[1].text : std::string()});
  }
  return entries;
}

std::vector<StreamEntry> read_stream(RedisClient& client, const std::string& key, const std::string& position, int max,
                                     double wait_seconds) {
  const std::string count = fmt::format("{}", max);
  const std::string milliseconds = fmt::format("{:.0f}", 1e3 * wait_seconds);
  std::vector<std::string_view> arguments = {"XREAD", "COUNT", count};
  if (wait_seconds > 0.0) arguments.insert(arguments.end(), {"BLOCK", milliseconds});  // BLOCK 0 would wait for ever
  arguments.insert(arguments.end(), {"STREAMS", key, position});
  // The reply: [[stream, entries]]; nil if there is nothing new.
  const RedisValue reply = client.command(arguments);
  if (reply.items.size() != 1 || reply.items[0].items.size() != 2) return {};
  return stream_entries(reply.items[0].items[1]);
}

void delete_entries(RedisClient& client, const std::string& key, const std::vector<std::string>& positions) {
  if (positions.empty()) return;
  std::vector<std::string_view> arguments = {"XDEL", key};
  arguments.insert(arguments.end(), positions.begin(), positions.end());
  client.command(arguments);
}

std::string repair_stream(RedisClient& client, const std::string& key, const std::string& position) {
  const std::string type = client.command({"TYPE", key}).text;
  if (type == "none") return kStreamBeginning;
  const auto renew = [&](const std::string& why) {
    client.remark(fmt::format("key {}: {}; deleted, so that workers can write again", key, why));
    client.command({"DEL", key});
    return std::string(kStreamBeginning);
  };
  if (type != "stream") return renew(fmt::format("it is a {}, not a stream", type));
  const std::vector<RedisValue> fields = client.command({"XINFO", "STREAM", key}).items;
  std::string last;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text == "last-generated-id") last = fields[i + 1].text;
  }
  const auto newest = parse_position(last);
  if (newest && newest->first == UINT64_MAX) return renew(fmt::format("an entry has the ID {}, the last", last));
  // The clock of a server that came back empty may be slow.
  const auto old = parse_position(position);
  return old && newest && *old <= *newest ? position : kStreamBeginning;
}

}  // namespace treesample
