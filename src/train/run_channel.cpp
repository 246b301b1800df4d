#include "train/run_channel.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "train/episode_codec.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr const char* kKeys[] = {"options", "head", "parameters", "next", "episodes"};

// <milliseconds>-<number>, as two numbers.
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

RunChannel::RunChannel(const RedisOptions& options, const RunCallbacks& callbacks)
    : prefix_(fmt::format("treesample:{}:", options.run)),
      client_(options, callbacks),
      seal_(run_secret(options, client_.address().password), options.run) {
  if (seal_.has_secret()) return;
  const std::string what = "there is neither a password nor a key: whoever can write to the server can change the run";
  check_argument(options.allow_no_secret || is_local(client_.address()), "--redis",
                 fmt::format("'{}' is on another machine, and {}; give --key-file or --password-file (or --insecure)",
                             client_.address().host, what));
  client_.remark(fmt::format("{} (--key-file FILE seals it)", what));
}

void RunChannel::reset() {
  client_.command({"DEL", key("options"), key("head"), key("parameters"), key("next"), key("episodes")});
}

void RunChannel::set(const char* name, std::string_view payload) {
  client_.command({"SET", key(name), seal_.seal(name, payload)});
}

void RunChannel::publish_options(const std::string& text) {
  fingerprint_ = fingerprint(text);
  set("options", text);
}

// The head comes last: who sees a version finds parameters that are at least as new.
void RunChannel::publish_parameters(const std::string& network, std::int64_t version) {
  version_ = version;
  set("parameters", network);
  set_head("running");
}

void RunChannel::set_head(const char* state) {
  set("head", fmt::format("{} {} {} {}", TREESAMPLE_VERSION, fingerprint_, version_, state));
}

std::string RunChannel::type_of(const char* name) { return client_.command({"TYPE", key(name)}).text; }

void RunChannel::start_numbers_at(std::uint64_t number) {
  std::string current;
  if (type_of("next") == "string") current = client_.command({"GET", key("next")}).text;
  std::uint64_t next = 0;
  const char* const end = current.data() + current.size();
  const auto [parsed, error] = std::from_chars(current.data(), end, next);
  const bool is_number = error == std::errc() && parsed == end;
  if (is_number && next >= number && next <= number + kMostNumbersAhead) return;
  if (!current.empty()) {
    client_.remark(fmt::format("key {}: it held '{}', which is not the number of the next episode; set to {}",
                               key("next"), shortened(current, 40), number));
  }
  client_.command({"SET", key("next"), fmt::format("{}", number)});
}

std::string RunChannel::repair_stream(const std::string& position) {
  constexpr const char* kBeginning = "0-0";
  const std::string type = type_of("episodes");
  if (type == "none") return kBeginning;
  const auto renew = [&](const std::string& why) {
    client_.remark(fmt::format("key {}: {}; deleted, so that workers can write again", key("episodes"), why));
    client_.command({"DEL", key("episodes")});
    return std::string(kBeginning);
  };
  if (type != "stream") return renew(fmt::format("it is a {}, not a stream", type));
  const std::vector<RedisValue> fields = client_.command({"XINFO", "STREAM", key("episodes")}).items;
  std::string last;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text == "last-generated-id") last = fields[i + 1].text;
  }
  const auto newest = parse_position(last);
  if (newest && newest->first == UINT64_MAX) return renew(fmt::format("an entry has the ID {}, the last", last));
  // A server that came back empty may have a clock that is behind. What was taken is known and taken only once.
  const auto old = parse_position(position);
  return old && newest && *old <= *newest ? position : kBeginning;
}

void RunChannel::announce_end() {
  set_head("done");
  for (const char* name : kKeys) client_.command({"EXPIRE", key(name), "3600"});
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

void RunChannel::forget(const std::vector<std::string>& positions) {
  if (positions.empty()) return;
  const std::string stream = key("episodes");
  std::vector<std::string_view> arguments = {"XDEL", stream};
  arguments.insert(arguments.end(), positions.begin(), positions.end());
  client_.command(arguments);
}

std::optional<std::string> RunChannel::open(const char* name, const RedisValue& value) const {
  if (value.kind != RedisValue::Kind::kText) return std::nullopt;
  try {
    return std::string(seal_.open(name, value.text));
  } catch (const Error& error) {
    throw RedisTrouble(fmt::format("key {}: {}", key(name), error.what()));
  }
}

std::optional<std::string> RunChannel::get(const char* name) { return open(name, client_.command({"GET", key(name)})); }

std::optional<RunChannel::Head> RunChannel::head() {
  const std::vector<RedisValue> values = client_.command({"MGET", key("head"), key("lease")}).items;
  if (values.size() != 2) return std::nullopt;
  const std::optional<std::string> text = open("head", values[0]);
  if (!text) return std::nullopt;
  Head head = {.has_learner = !values[1].is_nil()};
  std::string state;
  std::istringstream words(*text);
  if (!(words >> head.library_version >> head.fingerprint >> head.version >> state)) return std::nullopt;
  head.is_done = state == "done";
  return head;
}

std::uint64_t RunChannel::draw_number() {
  const std::int64_t next = client_.command({"INCR", key("next")}).integer;
  if (next >= 1 && static_cast<std::uint64_t>(next) <= kFirstTestProblem) return static_cast<std::uint64_t>(next - 1);
  throw RedisTrouble(fmt::format("key {}: it holds {}, which is not the number of an episode", key("next"), next));
}

void RunChannel::submit(const std::string& episode) {
  const std::string limit = fmt::format("{}", kMaxStreamEntries);
  client_.command({"XADD", key("episodes"), "MAXLEN", "~", limit, "*", "episode", seal_.seal("episode", episode)});
}

}  // namespace treesample
