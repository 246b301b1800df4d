#include "remote/run_lease.hpp"

#include <fmt/format.h>

#include "remote/message_seal.hpp"
#include "remote/process_identity.hpp"

namespace treesample {
namespace {

constexpr double kLookSeconds = 0.25;  // between two looks at the lease of another process

// KEYS: the lease. ARGV: our value, milliseconds, a value that may be replaced. Answers "kept" or "taken", or the
// holder's value and the milliseconds that it has left. A key that is not a lease, because it has another type or never
// expires, is replaced. Extending a lease needs no memory, so a full server does not end a run.
constexpr const char* kTake = R"(
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'string' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {'kept'}
end
local left = redis.call('PTTL', KEYS[1])
if held and held ~= ARGV[3] and left ~= -1 then return {held, left} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {'taken'}
)";

constexpr const char* kRelease = R"(
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
)";

// The owner named by a lease, whose value consists of a token, an identity and a role.
std::optional<ProcessIdentity> owner_of(const std::string& value) {
  const std::size_t space = value.find(' ');
  return space == std::string::npos ? std::nullopt : ProcessIdentity::parse(value.substr(space + 1));
}

std::string owner_name(const std::string& value) {
  const std::optional<ProcessIdentity> owner = owner_of(value);
  const char* const role = value.ends_with(" learner")       ? "learner"
                           : value.ends_with(" coordinator") ? "coordinator"
                                                             : "process";
  return owner ? fmt::format("the {} {} (host:pid)", role, owner->name()) : "something that does not say who it is";
}

}  // namespace

RunLease::RunLease(RedisClient& client, std::string key, std::string run, const std::string& role)
    : client_(client),
      key_(std::move(key)),
      run_(std::move(run)),
      value_(fmt::format("{} {} {}", random_token(), ProcessIdentity::own().text(), role)) {
  Answer before = ask("");
  if (!before.holder.empty()) {
    client_.remark(fmt::format("run '{}' belongs to {}; it can be taken over in {:.0f} s unless that process lives",
                               run_, owner_name(before.holder), before.expires_in));
  }
  while (!before.holder.empty()) {
    const std::optional<ProcessIdentity> owner = owner_of(before.holder);
    if (!owner || !owner->is_surely_dead()) client_.pause(kLookSeconds);
    const Answer now = ask(owner && owner->is_surely_dead() ? before.holder : "");
    const bool is_renewed = now.holder != before.holder || now.expires_in > before.expires_in;
    if (!now.holder.empty() && is_renewed) refuse(now, "is in use by");
    before = now;
  }
}

void RunLease::release() noexcept { client_.command_if_connected({"EVAL", kRelease, "1", key_, value_}); }

RunLease::Answer RunLease::ask(const std::string& replaceable) {
  const std::string milliseconds = fmt::format("{:.0f}", 1e3 * kLeaseSeconds);
  const RedisValue reply = client_.command({"EVAL", kTake, "1", key_, value_, milliseconds, replaceable});
  renewed_ = Clock::now();
  if (reply.items.size() == 2) return {.holder = reply.items[0].text, .expires_in = 1e-3 * reply.items[1].integer};
  return {.is_taken = !reply.items.empty() && reply.items[0].text == "taken"};
}

bool RunLease::renew(bool now) {
  if (!now && seconds_since(renewed_) < kRenewalSeconds) return true;
  const Answer answer = ask("");
  if (!answer.holder.empty()) refuse(answer, "was taken over by");
  return !answer.is_taken;
}

void RunLease::refuse(const Answer& answer, const char* what) const {
  throw Error(ErrorCode::kIo,
              fmt::format("run '{}' {} {}; its lease ({}) lasts {:.0f} s and is renewed while it works: name another "
                          "run (--run), or end that process",
                          run_, what, owner_name(answer.holder), key_, answer.expires_in));
}

}  // namespace treesample
