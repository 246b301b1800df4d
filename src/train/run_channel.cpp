#include "train/run_channel.hpp"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "train/episode_codec.hpp"
#include "treesample/text.hpp"
#include "treesample/train/distributed.hpp"

namespace treesample {
namespace {

constexpr const char* kKeys[] = {"options", "head", "parameters", "next", "episodes"};

}  // namespace

void RunChannel::reset() {
  client().command({"DEL", key("options"), key("head"), key("parameters"), key("next"), key("episodes")});
}

void RunChannel::publish_options(const std::string& text) {
  fingerprint_ = fingerprint(text);
  set("options", text);
}

// The head is written last: a worker that sees its version finds parameters that are at least as new.
void RunChannel::publish_parameters(const std::string& network, std::int64_t version) {
  version_ = version;
  set("parameters", network);
  set_head("running");
}

void RunChannel::set_head(const char* state) {
  set("head", fmt::format("{} {} {} {}", TREESAMPLE_VERSION, fingerprint_, version_, state));
}

void RunChannel::start_numbers_at(std::uint64_t number) {
  std::string current;
  if (type_of("next") == "string") current = client().command({"GET", key("next")}).text;
  std::uint64_t next = 0;
  const char* const end = current.data() + current.size();
  const auto [parsed, error] = std::from_chars(current.data(), end, next);
  const bool is_number = error == std::errc() && parsed == end;
  if (is_number && next >= number && next <= number + kMostNumbersAhead) return;
  if (!current.empty()) {
    client().remark(fmt::format("key {}: it held '{}', which is not the number of the next episode; set to {}",
                                key("next"), shortened(current, 40), number));
  }
  client().command({"SET", key("next"), fmt::format("{}", number)});
}

void RunChannel::announce_end() {
  set_head("done");
  for (const char* name : kKeys) client().command({"EXPIRE", key(name), "3600"});
}

std::optional<RunChannel::Head> RunChannel::head() {
  const std::vector<RedisValue> values = client().command({"MGET", key("head"), key("lease")}).items;
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
  const std::int64_t next = client().command({"INCR", key("next")}).integer;
  if (next >= 1 && static_cast<std::uint64_t>(next) <= kFirstTestProblem) return static_cast<std::uint64_t>(next - 1);
  throw RedisTrouble(fmt::format("key {}: it holds {}, which is not the number of an episode", key("next"), next));
}

void RunChannel::submit(const std::string& episode) {
  const std::string limit = fmt::format("{}", kMaxStreamEntries);
  client().command({"XADD", key("episodes"), "MAXLEN", "~", limit, "*", "episode", seal().seal("episode", episode)});
}

}  // namespace treesample
