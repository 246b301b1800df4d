#include "remote/redis_client.hpp"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#if defined(TREESAMPLE_HAS_HIREDIS_SSL)
#include <hiredis/hiredis_ssl.h>
#endif

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>
#include <utility>

#include "stopwatch.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr timeval kConnectTimeout = {.tv_sec = 5, .tv_usec = 0};
constexpr timeval kAnswerTimeout = {.tv_sec = 15, .tv_usec = 0};
constexpr double kFirstPause = 0.05;
constexpr double kLongestPause = 5.0;

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kIo, "redis: " + message); }

// Writing to a connection that the server has closed raises SIGPIPE, which would end the process. A library must not
// change the process's handlers. So the signal is blocked in this thread, and removed if it was raised.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &old_);
  }
  ~SigpipeGuard() {
    constexpr timespec kAtOnce = {.tv_sec = 0, .tv_nsec = 0};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &kAtOnce);
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t pipe_;
  sigset_t old_;
  bool was_pending_ = false;
};

RedisValue to_value(const redisReply& reply) {
  RedisValue value;
  switch (reply.type) {
    case REDIS_REPLY_NIL:
      break;
    case REDIS_REPLY_INTEGER:
      value.kind = RedisValue::Kind::kInteger;
      value.integer = reply.integer;
      break;
    case REDIS_REPLY_ARRAY:
      value.kind = RedisValue::Kind::kArray;
      for (std::size_t i = 0; i < reply.elements; ++i) value.items.push_back(to_value(*reply.element[i]));
      break;
    default:
      value.kind = RedisValue::Kind::kText;
      value.text.assign(reply.str, reply.len);
  }
  return value;
}

// The key to which a command refers.
std::string_view key_of(const std::vector<std::string_view>& arguments) {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [](std::string_view argument) { return argument.starts_with("treesample:"); });
  return found == arguments.end() ? "" : *found;
}

// Advice to the user after a refusal.
const char* hint(const std::string& message) {
  if (message.starts_with("NOAUTH")) return " (give the password by --password-file)";
  if (message.starts_with("WRONGPASS") || message.find("invalid password") != std::string::npos) {
    return " (the password is wrong)";
  }
  if (message.find("without any password") != std::string::npos) {
    return " (this server has no password: is it the right one? Give none, or set requirepass)";
  }
  if (message.starts_with("ERR unknown command")) {
    return " (is the server too old? Workers of infer need Redis 6.2 or later, those of training 5.0)";
  }
  return "";
}

std::string first_line(const std::string& path) {
  const std::string text = read_file(path, 1 << 16);
  return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace

#if defined(TREESAMPLE_HAS_HIREDIS_SSL)
bool has_redis_tls() { return true; }

struct RedisClient::Tls {
  explicit Tls(const RedisOptions& options, const RedisAddress& address) {
    redisInitOpenSSL();
    const auto or_null = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
    redisSSLContextError error = REDIS_SSL_CTX_NONE;
    // Without a file of trusted certificates, those in the system's folder are used. Peers are always verified.
    const char* const system_folder = options.tls_ca_file.empty() ? "/etc/ssl/certs" : nullptr;
    context.reset(redisCreateSSLContext(or_null(options.tls_ca_file), system_folder, or_null(options.tls_cert_file),
                                        or_null(options.tls_key_file), address.host.c_str(), &error));
    if (!context) fail(fmt::format("TLS cannot be set up: {}", redisSSLContextGetError(error)));
  }
  struct Free {
    void operator()(redisSSLContext* ssl) const { redisFreeSSLContext(ssl); }
  };
  std::unique_ptr<redisSSLContext, Free> context;
  bool start(redisContext* connection) const {
    return redisInitiateSSLWithContext(connection, context.get()) == REDIS_OK;
  }
};
#else
bool has_redis_tls() { return false; }

struct RedisClient::Tls {
  Tls(const RedisOptions& /*options*/, const RedisAddress& /*address*/) {}
  static bool start(redisContext* /*connection*/) { return false; }  // never called: RedisOptions::validate
};
#endif

void RedisClient::Close::operator()(redisContext* context) const {
  const SigpipeGuard guard;  // because closing a TLS connection writes to it
  redisFree(context);
}

RedisClient::RedisClient(const RedisOptions& options, RunCallbacks callbacks)
    : options_(options), address_(parse_redis_address(options.address)), callbacks_(std::move(callbacks)) {
  options.validate();
  if (!options_.password_file.empty()) address_.password = first_line(options_.password_file);
  if (address_.is_tls) tls_ = std::make_unique<Tls>(options_, address_);
}

RedisClient::~RedisClient() = default;

void RedisClient::pause(double seconds) const {
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  do {
    ask_keep_going();
    std::this_thread::sleep_for(std::min<Clock::duration>(std::chrono::milliseconds(100), end - Clock::now()));
  } while (Clock::now() < end);
}

bool RedisClient::try_connect() {
  const SigpipeGuard guard;
  context_.reset(address_.is_unix ? redisConnectUnixWithTimeout(address_.host.c_str(), kConnectTimeout)
                                  : redisConnectWithTimeout(address_.host.c_str(), address_.port, kConnectTimeout));
  const bool is_connected = context_ && context_->err == 0 &&
                            redisSetTimeout(context_.get(), kAnswerTimeout) == REDIS_OK &&
                            (!tls_ || tls_->start(context_.get()));
  if (is_connected && log_in()) {
    ++num_connections_;
    return true;
  }
  if (context_ && context_->err != 0) last_error_ = context_->errstr;
  context_.reset();
  return false;
}

// False if the connection broke. A refused login is final, and is thrown.
bool RedisClient::log_in() {
  bool is_broken = false;
  try {
    if (!address_.password.empty() && address_.user.empty()) {
      send({"AUTH", address_.password}, is_broken);
    } else if (!address_.password.empty()) {
      send({"AUTH", address_.user, address_.password}, is_broken);
    }
    if (!is_broken) send({"PING"}, is_broken);
  } catch (const RedisTrouble&) {
    fail(fmt::format("{} refuses the login: {}{}", address_.host, last_error_, hint(last_error_)));
  }
  return !is_broken;
}

// Waits until something can be read, the time is over, or the connection breaks; hiredis then finds out which.
void RedisClient::wait_for_answer() const {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(kAnswerTimeout.tv_sec);
  pollfd descriptor = {.fd = context_->fd, .events = POLLIN, .revents = 0};
  while (Clock::now() < end) {
    constexpr int kMilliseconds = 100;
    if (poll(&descriptor, 1, kMilliseconds) > 0) return;
    ask_keep_going();
  }
}

RedisValue RedisClient::send(const std::vector<std::string_view>& arguments, bool& is_broken) {
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const std::string_view argument : arguments) {
    texts.push_back(argument.data());
    lengths.push_back(argument.size());
  }
  struct Free {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  int is_sent = 0;
  bool is_good =
      redisAppendCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(), lengths.data()) == REDIS_OK;
  while (is_good && is_sent == 0) is_good = redisBufferWrite(context_.get(), &is_sent) == REDIS_OK;
  void* answer = nullptr;
  if (is_good) {
    wait_for_answer();
    is_good = redisGetReply(context_.get(), &answer) == REDIS_OK;
  }
  const std::unique_ptr<redisReply, Free> reply(static_cast<redisReply*>(answer));
  if (!is_good || !reply) {
    last_error_ = context_->errstr;
    is_broken = true;
    return {};
  }
  if (reply->type == REDIS_REPLY_ERROR) {
    const std::string message = shortened({reply->str, reply->len}, 300);
    // A server that has just started gives this answer until it has loaded its data.
    is_broken = message.starts_with("LOADING");
    last_error_ = message;
    if (is_broken) return {};
    const bool is_final =
        message.starts_with("NOAUTH") || message.starts_with("NOPERM") || message.starts_with("ERR unknown command");
    if (is_final) fail(fmt::format("{}: {}: {}{}", address_.host, arguments[0], message, hint(message)));
    throw RedisTrouble(fmt::format("redis: {} {}: {}{}", arguments[0], key_of(arguments), message,
                                   message.find("OOM ") == std::string::npos ? "" : ": the server is full"));
  }
  return to_value(*reply);
}

RedisValue RedisClient::command(const std::vector<std::string_view>& arguments) {
  const Stopwatch clock;
  bool has_failed = false;
  for (double next_pause = kFirstPause;; next_pause = std::min(2.0 * next_pause, kLongestPause)) {
    if (context_ || try_connect()) {
      bool is_broken = false;
      const SigpipeGuard guard;
      RedisValue value = send(arguments, is_broken);
      if (!is_broken) {
        if (has_failed) remark(fmt::format("redis: {} answers again", address_.host));
        return value;
      }
      context_.reset();
    }
    if (std::exchange(has_failed, true) == false) {
      remark(fmt::format("redis: no answer from {}: {}; trying again for up to {:g} s", address_.host, last_error_,
                         options_.patience_seconds));
    }
    if (clock.seconds() > options_.patience_seconds) {
      fail(fmt::format("no answer from {} within {} s: {}", address_.host, options_.patience_seconds, last_error_));
    }
    pause(next_pause);
  }
}

void RedisClient::command_if_connected(const std::vector<std::string_view>& arguments) noexcept {
  if (!context_) return;
  try {
    bool is_broken = false;
    const SigpipeGuard guard;
    send(arguments, is_broken);
    if (is_broken) context_.reset();
  } catch (...) {  // the command is not important enough for an error
  }
}

void RedisClient::command_once(const std::vector<std::string_view>& arguments) noexcept {
  try {
    if (!context_ && !try_connect()) return;
  } catch (...) {
    return;
  }
  command_if_connected(arguments);
}

}  // namespace treesample
