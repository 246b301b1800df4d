#include "train/run_channel.hpp"

#include <fmt/format.h>

#include <sstream>

#include "train/episode_codec.hpp"

namespace treesample {

RunChannel::RunChannel(const RedisOptions& options, const KeepGoing& keep_going)
    : prefix_(fmt::format("treesample:{}:", options.run)), client_(options, keep_going) {}

void RunChannel::reset() {
  client_.command({"DEL", key("options"), key("head"), key("parameters"), key("next"), key("episodes")});
}

void RunChannel::publish_options(const std::string& text) {
  fingerprint_ = fingerprint(text);
  client_.command({"SET", key("options"), text});
}

// The head comes last: who sees a version finds parameters that are at least as new.
void RunChannel::publish_parameters(const std::string& network, std::int64_t version) {
  version_ = version;
  client_.command({"SET", key("parameters"), network});
  set_head("running");
}

void RunChannel::set_head(const char* state) {
  client_.command({"SET", key("head"), fmt::format("{} {} {}", fingerprint_, version_, state)});
}

void RunChannel::start_numbers_at(std::uint64_t number) {
  const std::optional<std::string> current = get("next");
  const std::uint64_t started = current ? std::strtoull(current->c_str(), nullptr, 10) : 0;
  if (started < number || !current) client_.command({"SET", key("next"), fmt::format("{}", number)});
}

void RunChannel::announce_end() {
  set_head("done");
  for (const char* name : {"options", "head", "parameters", "next", "episodes"}) {
    client_.command({"EXPIRE", key(name), "3600"});
  }
}

std::vector<RunChannel::Entry> RunChannel::read_episodes(const std::string& position, int max, double wait_seconds) {
  const std::string count = fmt::format("{}", max);
  const std::string stream = key("episodes");
  const std::string milliseconds = fmt::format("{:.0f}", 1e3 * wait_seconds);
  std::vector<std::string_view> arguments = {"XREAD", "COUNT", count};
  if (wait_seconds > 0.0) arguments.insert(arguments.end(), {"BLOCK", milliseconds});  // BLOCK 0 would wait forever
  arguments.insert(arguments.end(), {"STREAMS", stream, position});
  // [[stream, [[position, [field, value]], ...]]]; nil when there is nothing new.
  const RedisValue reply = client_.command(arguments);
  std::vector<Entry> entries;
  if (reply.items.size() != 1 || reply.items[0].items.size() != 2) return entries;
  for (const RedisValue& entry : reply.items[0].items[1].items) {
    if (entry.items.empty()) continue;
    // An entry without the expected field is handed on as an empty episode, which the learner rejects.
    const bool is_whole = entry.items.size() == 2 && entry.items[1].items.size() == 2;
    entries.push_back({entry.items[0].text, is_whole ? entry.items[1].items[1].text : std::string()});
  }
  return entries;
}

std::optional<std::string> RunChannel::get(const char* name) {
  RedisValue value = client_.command({"GET", key(name)});
  if (value.kind != RedisValue::Kind::kText) return std::nullopt;
  return std::move(value.text);
}

std::optional<RunChannel::Head> RunChannel::head() {
  const std::optional<std::string> text = get("head");
  if (!text) return std::nullopt;
  Head head;
  std::string state;
  std::istringstream words(*text);
  if (!(words >> head.fingerprint >> head.version >> state)) return std::nullopt;
  head.is_done = state == "done";
  return head;
}

std::optional<std::string> RunChannel::options_text() { return get("options"); }
std::optional<std::string> RunChannel::parameters() { return get("parameters"); }

std::uint64_t RunChannel::draw_number() {
  return static_cast<std::uint64_t>(client_.command({"INCR", key("next")}).integer - 1);
}

void RunChannel::submit(const std::string& episode) {
  const std::string limit = fmt::format("{}", kMaxStreamEntries);
  client_.command({"XADD", key("episodes"), "MAXLEN", "~", limit, "*", "episode", episode});
}

}  // namespace treesample
