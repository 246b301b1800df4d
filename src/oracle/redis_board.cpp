#include "oracle/redis_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace treesample {
namespace {

constexpr const char* kForgetSeconds = "3600";

// KEYS: questions, sent. ARGV: session, number, entries.
constexpr const char* kAdd = R"(
local sent = redis.call('GET', KEYS[2])
if not sent or string.sub(sent, 1, #ARGV[1] + 1) ~= ARGV[1] .. ' ' then return 'lost' end
local mark = ARGV[1] .. ' ' .. ARGV[2]
if sent ~= mark then
  for i = 3, #ARGV do redis.call('XADD', KEYS[1], '*', 'question', ARGV[i]) end
  redis.call('SET', KEYS[2], mark)
end
return 'added'
)";

// KEYS: questions, answers. ARGV: group, position of the question, answer, and the worker if it wants the next
// question.
constexpr const char* kAnswer = R"(
local position = redis.call('XADD', KEYS[2], '*', 'answer', ARGV[3])
redis.pcall('XACK', KEYS[1], ARGV[1], ARGV[2])
redis.pcall('XDEL', KEYS[1], ARGV[2])
if ARGV[4] == '' then return {position} end
local next = redis.pcall('XREADGROUP', 'GROUP', ARGV[1], ARGV[4], 'COUNT', '1', 'STREAMS', KEYS[1], '>')
if not next or next.err or not next[1] then return {position} end
return {position, next[1][2]}
)";

// KEYS: questions. ARGV: group, position, question. Only a question that still exists is put back.
constexpr const char* kGiveBack = R"(
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 1 and redis.call('XDEL', KEYS[1], ARGV[2]) == 1 then
  redis.call('XADD', KEYS[1], '*', 'question', ARGV[3])
end
return 1
)";

// KEYS: model, lease, safe, workers. ARGV: worker. A sign of life is skipped if the server is full.
constexpr const char* kLook = R"(
redis.pcall('ZADD', KEYS[4], redis.call('TIME')[1], ARGV[1])
redis.pcall('EXPIRE', KEYS[4], 3600)
return redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
)";

// KEYS: questions, workers. ARGV: group, worker, position.
constexpr const char* kHold = R"(
redis.pcall('ZADD', KEYS[2], redis.call('TIME')[1], ARGV[2])
return redis.pcall('XCLAIM', KEYS[1], ARGV[1], ARGV[2], '0', ARGV[3], 'JUSTID')
)";

// KEYS: workers. ARGV: seconds.
constexpr const char* kCount = "return redis.call('ZCOUNT', KEYS[1], redis.call('TIME')[1] - ARGV[1], '+inf')";

// KEYS: questions, workers. ARGV: group, worker. Removing a worker would also remove the questions that it holds. If it
// holds any, as after a command whose reply it did not wait for, the worker is left there until its lease ends.
constexpr const char* kLeave = R"(
redis.pcall('ZREM', KEYS[2], ARGV[2])
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', '1', ARGV[2]) == 0 then
  redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
return 1
)";

// KEYS: a stream. The answer of a worker that finished late stays for the next run.
constexpr const char* kDeleteEmpty = "if redis.call('XLEN', KEYS[1]) == 0 then redis.call('DEL', KEYS[1]) end return 1";

std::string milliseconds(double seconds) { return fmt::format("{:.0f}", std::max(1.0, 1e3 * seconds)); }

std::optional<StreamEntry> first_of(std::vector<StreamEntry> entries) {
  return entries.empty() ? std::nullopt : std::optional(std::move(entries.front()));
}

// While a coordinator begins or ends, there is no group.
template <typename Work>
std::optional<StreamEntry> unless_without_group(const Work& work) {
  try {
    return work();
  } catch (const RedisTrouble& trouble) {
    const std::string_view text = trouble.what();
    if (text.find("NOGROUP") == std::string_view::npos && text.find("UNBLOCKED") == std::string_view::npos) throw;
    return std::nullopt;
  }
}

}  // namespace

bool is_before(const std::string& position, const std::string& other) {
  const auto parts = [](const std::string& text) {
    char* end = nullptr;
    const auto time = std::strtoull(text.c_str(), &end, 10);
    return std::pair(time, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : 0ULL);
  };
  return parts(position) < parts(other);
}

void QuestionBoard::rebuild(const RunHead& head) {
  client().command({"DEL", key("questions"), key("sent")});
  client().command({"XGROUP", "CREATE", key("questions"), kWorkerGroup, "0", "MKSTREAM"});
  // An old server does not know this command. It is better to fail now than in every worker.
  client().command({"XAUTOCLAIM", key("questions"), kWorkerGroup, "nobody", "1000", "0", "COUNT", "1"});
  set("model", format_head(head));
  client().command({"SET", key("sent"), head.session + " -1"});
}

bool QuestionBoard::is_intact(const std::string& session) {
  const RedisValue sent = client().command({"GET", key("sent")});
  if (!sent.text.starts_with(session + " ") || type_of("questions") != "stream" || type_of("model") != "string") {
    return false;
  }
  for (const RedisValue& group : client().command({"XINFO", "GROUPS", key("questions")}).items) {
    if (group.items.size() > 1 && group.items[1].text == kWorkerGroup) return true;
  }
  return false;
}

bool QuestionBoard::add(const std::string& session, std::int64_t number, const std::vector<std::string>& sealed) {
  const std::string count = fmt::format("{}", number);
  const std::string questions = key("questions"), sent = key("sent");
  std::vector<std::string_view> arguments = {"EVAL", kAdd, "2", questions, sent, session, count};
  arguments.insert(arguments.end(), sealed.begin(), sealed.end());
  return client().command(arguments).text == "added";
}

std::int64_t QuestionBoard::num_questions() { return client().command({"XLEN", key("questions")}).integer; }

std::int64_t QuestionBoard::num_in_hand() {
  const RedisValue reply = client().command({"XPENDING", key("questions"), kWorkerGroup});
  return reply.items.empty() ? 0 : reply.items[0].integer;
}

int QuestionBoard::num_workers(double seconds) {
  const std::string whole = fmt::format("{:.0f}", seconds);
  return static_cast<int>(client().command({"EVAL", kCount, "1", key("workers"), whole}).integer);
}

void QuestionBoard::forget_answers(const std::vector<std::string>& positions) {
  delete_entries(client(), key("answers"), positions);
  if (!positions.empty()) client().command({"SET", key("safe"), positions.back()});
}

void QuestionBoard::forget_at_the_end(const std::vector<std::string>& positions) noexcept {
  const std::string answers = key("answers");
  std::vector<std::string_view> arguments = {"XDEL", answers};
  arguments.insert(arguments.end(), positions.begin(), positions.end());
  if (!positions.empty()) client().command_if_connected(arguments);
  client().command_if_connected({"EVAL", kDeleteEmpty, "1", answers});
}

void QuestionBoard::announce_end(RunHead head) noexcept {
  head.is_done = true;
  client().command_if_connected({"DEL", key("questions"), key("sent")});
  client().command_if_connected({"SET", key("model"), seal().seal("model", format_head(head)), "EX", kForgetSeconds});
  client().command_if_connected({"EXPIRE", key("safe"), kForgetSeconds});
}

QuestionBoard::View QuestionBoard::look(const std::string& worker) {
  const std::vector<RedisValue> values =
      client().command({"EVAL", kLook, "4", key("model"), key("lease"), key("safe"), key("workers"), worker}).items;
  if (values.size() != 3) return {};
  View view{.head = {}, .has_coordinator = !values[1].is_nil(), .safe = values[2].text};
  if (const std::optional<std::string> text = open("model", values[0])) view.head = parse_head(*text);
  return view;
}

std::optional<StreamEntry> QuestionBoard::claim(const std::string& worker, double lease_seconds) {
  return unless_without_group([&]() -> std::optional<StreamEntry> {
    // The reply: [next, entries, ...]
    const RedisValue reply = client().command(
        {"XAUTOCLAIM", key("questions"), kWorkerGroup, worker, milliseconds(lease_seconds), "0", "COUNT", "1"});
    return reply.items.size() < 2 ? std::nullopt : first_of(stream_entries(reply.items[1]));
  });
}

std::optional<StreamEntry> QuestionBoard::next(const std::string& worker, double wait_seconds) {
  return unless_without_group([&]() -> std::optional<StreamEntry> {
    // The reply: [[stream, entries]]; nil if there is nothing new.
    const RedisValue reply = client().command({"XREADGROUP", "GROUP", kWorkerGroup, worker, "COUNT", "1", "BLOCK",
                                               milliseconds(wait_seconds), "STREAMS", key("questions"), ">"});
    if (reply.items.size() != 1 || reply.items[0].items.size() != 2) return std::nullopt;
    return first_of(stream_entries(reply.items[0].items[1]));
  });
}

std::int64_t QuestionBoard::num_deliveries(const std::string& position) {
  // The reply: [[position, worker, milliseconds, deliveries]]
  const RedisValue reply = client().command({"XPENDING", key("questions"), kWorkerGroup, position, position, "1"});
  return reply.items.size() == 1 && reply.items[0].items.size() == 4 ? reply.items[0].items[3].integer : 0;
}

void QuestionBoard::hold(const std::string& worker, const std::string& position) noexcept {
  client().command_once({"EVAL", kHold, "2", key("questions"), key("workers"), kWorkerGroup, worker, position});
}

QuestionBoard::Answered QuestionBoard::answer(const std::string& position, const std::string& sealed,
                                              const std::string& worker) {
  const RedisValue reply = client().command(
      {"EVAL", kAnswer, "2", key("questions"), key("answers"), kWorkerGroup, position, sealed, worker});
  Answered answered;
  if (!reply.items.empty()) answered.position = reply.items[0].text;
  if (reply.items.size() == 2) answered.next = first_of(stream_entries(reply.items[1]));
  return answered;
}

void QuestionBoard::drop(const std::string& position) {
  client().command({"XACK", key("questions"), kWorkerGroup, position});
  client().command({"XDEL", key("questions"), position});
}

void QuestionBoard::give_back(const StreamEntry& entry) noexcept {
  client().command_if_connected(
      {"EVAL", kGiveBack, "1", key("questions"), kWorkerGroup, entry.position, entry.content});
}

void QuestionBoard::leave(const std::string& worker) noexcept {
  client().command_if_connected({"EVAL", kLeave, "2", key("questions"), key("workers"), kWorkerGroup, worker});
}

}  // namespace treesample
