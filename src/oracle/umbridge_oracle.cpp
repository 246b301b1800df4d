#include "oracle/umbridge_oracle.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "io/json_fields.hpp"
#include "oracle/program_oracle.hpp"
#include "oracle/protocol.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using nlohmann::json;
using Transform = UmBridgeDescription::Transform;

constexpr std::size_t kMaxAnswerBytes = ChildProcess::kMaxLineBytes;
constexpr double kProtocol = 1.0;

struct Spec {
  ProgramDescription program;
  std::vector<std::vector<int>> scopes;  // by factor: variables
};

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::kIo, message); }

// The error that a server sent instead of an answer.
[[noreturn]] void fail_with(const json& error) {
  const auto text = [&](const char* key) {
    return error.is_object() && error.contains(key) && error[key].is_string() ? error[key].get<std::string>() : "";
  };
  const std::string type = text("type"), message = text("message");
  fail(fmt::format("the server says: {}", type.empty() && message.empty() ? shown(error) : type + ": " + message));
}

// Finds the number at output[vector][entry] as it was written: converted to a double it may have become 0.
class OutputText final : public JsonWalk {
 public:
  OutputText(int vector, int entry) : wanted_{kObject, vector, entry} {}
  std::string found = {};

  bool number_float(double, const std::string& text) override {
    if (is_output_ && path_ == wanted_) found = text;
    return next();
  }
  bool key(std::string& name) override {
    if (path_.size() == 1) is_output_ = name == "output";
    return true;
  }
  bool start_array(std::size_t) override { return open(0); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open(kObject); }
  bool end_object() override { return close(); }
  bool scalar() override { return next(); }

 private:
  static constexpr int kObject = -1;
  bool open(int place) {
    path_.push_back(place);
    return true;
  }
  bool close() {
    path_.pop_back();
    return next();
  }
  bool next() {
    if (!path_.empty() && path_.back() != kObject) ++path_.back();
    return true;
  }

  std::vector<int> wanted_;
  std::vector<int> path_ = {};  // of the open lists and objects: the place in a list, or kObject
  bool is_output_ = false;
};

class UmBridgeOracle final : public Oracle {
 public:
  UmBridgeOracle(std::shared_ptr<const Spec> spec, const StopSignal& stop);
  ~UmBridgeOracle() override;
  UmBridgeOracle(const UmBridgeOracle&) = delete;
  UmBridgeOracle& operator=(const UmBridgeOracle&) = delete;

  void prepare() override;
  std::vector<Evaluation> log_values(int factor, std::span<const std::vector<int>> batch) override;

 private:
  void watch();
  void set_timer(double seconds);
  json ask(const char* method, const std::string& path, const json& body);
  json checked_sizes(const char* path, const char* key, const std::vector<std::size_t>& needed, bool is_exact);
  [[nodiscard]] json inputs(int factor, const std::vector<int>& states) const;
  [[nodiscard]] double log_value(const json& answer) const;
  void check_size(double y) const;

  std::shared_ptr<const Spec> spec_;
  const UmBridgeDescription& server_;
  const StopSignal& stop_;
  std::string prefix_;  // the path part of the address
  std::string answer_;  // the last answer, as JSON
  std::unique_ptr<httplib::Client> client_;
  bool is_prepared_ = false;
  std::size_t output_size_ = 0;  // of the output vector, as the server announced it
  Descriptor end_;               // becomes readable when this object ends
  Descriptor timer_;             // becomes readable when the time of a request is over
  std::thread watcher_;          // interrupts the client
};

UmBridgeOracle::UmBridgeOracle(std::shared_ptr<const Spec> spec, const StopSignal& stop)
    : spec_(std::move(spec)),
      server_(*spec_->program.umbridge),
      stop_(stop),
      end_(eventfd(0, EFD_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
  constexpr std::size_t kSchemeBytes = 7;  // http://
  const std::size_t path = std::min(server_.url.find('/', kSchemeBytes), server_.url.size());
  prefix_ = server_.url.substr(path);
  client_ = std::make_unique<httplib::Client>(server_.url.substr(0, path));
  const auto microseconds = [](double seconds) { return std::chrono::microseconds(std::llround(1e6 * seconds)); };
  client_->set_keep_alive(true);
  client_->set_connection_timeout(microseconds(spec_->program.start_timeout_seconds));
  client_->set_read_timeout(microseconds(spec_->program.timeout_seconds));
  client_->set_write_timeout(microseconds(spec_->program.timeout_seconds));
  watcher_ = std::thread([this] { watch(); });
}

UmBridgeOracle::~UmBridgeOracle() {
  constexpr std::uint64_t kOne = 1;
  [[maybe_unused]] const ssize_t written = ::write(end_.get(), &kOne, sizeof kOne);
  watcher_.join();
}

// A second thread watches the clock. Waiting for the server must not delay the end of a run, and the client's own
// timeouts are for single reads: a server that sends a byte now and then would never exceed them.
void UmBridgeOracle::watch() {
  pollfd waits[] = {{.fd = end_.get(), .events = POLLIN, .revents = 0},
                    {.fd = stop_.descriptor(), .events = POLLIN, .revents = 0},
                    {.fd = timer_.get(), .events = POLLIN, .revents = 0}};
  while (waits[0].revents == 0) {
    if (::poll(waits, 3, -1) < 0 || waits[0].revents != 0) continue;
    // A request that begins just after a stop() would not see it, so the stop is repeated.
    client_->stop();
    constexpr int kMilliseconds = 20;
    ::poll(waits, 1, kMilliseconds);
  }
}

// 0 means no timer.
void UmBridgeOracle::set_timer(double seconds) {
  const auto milliseconds = static_cast<long>(std::ceil(1e3 * seconds));
  const itimerspec when{.it_interval = {}, .it_value = {milliseconds / 1000, milliseconds % 1000 * 1'000'000}};
  timerfd_settime(timer_.get(), 0, &when, nullptr);
}

// Makes one request. Throws Error with the reason if it fails, or OracleStopped.
json UmBridgeOracle::ask(const char* method, const std::string& path, const json& body) {
  if (stop_.is_raised()) throw OracleStopped();
  httplib::Request request;
  request.method = method;
  request.path = prefix_ + path;
  if (request.method == "POST") {
    request.set_header("Content-Type", "application/json");
    request.body = json_text(body);
  }
  std::string text;
  bool is_too_long = false;
  request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    is_too_long = text.size() + size > kMaxAnswerBytes;
    if (!is_too_long) text.append(data, size);
    return !is_too_long;
  };
  set_timer(spec_->program.timeout_seconds + (is_prepared_ ? 0.0 : spec_->program.start_timeout_seconds));
  const httplib::Result result = client_->send(request);
  set_timer(0.0);
  if (stop_.is_raised()) throw OracleStopped();
  if (is_too_long) fail(fmt::format("{}{}: an answer of more than {} bytes", server_.url, path, kMaxAnswerBytes));
  if (!result) {
    fail(fmt::format("{}{}: no answer: {} (timeout_seconds {:g})", server_.url, path,
                     httplib::to_string(result.error()), spec_->program.timeout_seconds));
  }
  const std::string shown_text = shortened(text, 80);
  try {
    answer_ = quote_python_words(text);
    json answer = parse_json(answer_);
    if (answer.is_object() && answer.contains("error")) fail_with(answer["error"]);
    if (result->status != 200) fail(fmt::format("{}{}: HTTP status {}", server_.url, path, result->status));
    if (!answer.is_object()) fail(fmt::format("{}{}: no JSON object: '{}'", server_.url, path, shown_text));
    return answer;
  } catch (const JsonProblem& problem) {
    if (result->status != 200) fail(fmt::format("{}{}: HTTP status {}", server_.url, path, result->status));
    fail(fmt::format("{}{}: {} in its answer '{}'", server_.url, path, problem.is_syntax ? "no JSON" : problem.message,
                     shown_text));
  }
}

// Checks that the server has the model with these sizes. If it does not have it now, it will not have it later either;
// but a server that does not answer now may answer later.
void UmBridgeOracle::prepare() {
  if (is_prepared_) return;
  const json info = ask("GET", "/Info", {});
  if (info.value("protocolVersion", json()) != json(kProtocol)) {
    throw OracleBroken{fmt::format("{}: protocolVersion is {}, allowed is {:.1f}", server_.url,
                                   shown(info.value("protocolVersion", json())), kProtocol)};
  }
  const json models = info.value("models", json::array());
  if (!models.is_array() || std::find(models.begin(), models.end(), json(server_.model)) == models.end()) {
    throw OracleBroken{fmt::format("{}: it has no model '{}', it has {}", server_.url, server_.model,
                                   shortened(json_text(models), 100))};
  }
  const json support = ask("POST", "/ModelInfo", {{"name", server_.model}}).value("support", json::object());
  if (!support.is_object() || support.value("Evaluate", json()) != json(true)) {
    throw OracleBroken{fmt::format("{}: the model '{}' does not support Evaluate", server_.url, server_.model)};
  }
  std::vector<std::size_t> sizes;
  for (const auto& vector : server_.inputs) sizes.push_back(vector.size());
  checked_sizes("/InputSizes", "inputSizes", sizes, /*is_exact=*/true);
  std::vector<std::size_t> outputs(static_cast<std::size_t>(server_.output_vector) + 1, 0);
  outputs.back() = static_cast<std::size_t>(server_.output_entry) + 1;
  const json announced = checked_sizes("/OutputSizes", "outputSizes", outputs, /*is_exact=*/false);
  output_size_ = announced[server_.output_vector].get<std::size_t>();
  is_prepared_ = true;
}

json UmBridgeOracle::checked_sizes(const char* path, const char* key, const std::vector<std::size_t>& needed,
                                   bool is_exact) {
  const json answer = ask("POST", path, {{"name", server_.model}, {"config", parse_json(server_.config)}});
  json sizes = answer.value(key, json());
  const bool is_list = sizes.is_array() && std::all_of(sizes.begin(), sizes.end(),
                                                       [](const json& size) { return size.is_number_unsigned(); });
  bool fits = is_list && (is_exact ? sizes.size() == needed.size() : sizes.size() >= needed.size());
  for (std::size_t i = 0; fits && i < needed.size(); ++i) {
    const auto size = sizes[i].get<std::size_t>();
    fits = is_exact ? size == needed[i] : size >= needed[i];
  }
  if (fits) return sizes;
  throw OracleBroken{fmt::format("{}: the model '{}' has the {} {}, the model file {} {}", server_.url, server_.model,
                                 key, shortened(json_text(sizes), 100), is_exact ? "gives it" : "needs at least",
                                 json_text(json(needed)))};
}

json UmBridgeOracle::inputs(int factor, const std::vector<int>& states) const {
  json vectors = json::array();
  const std::vector<int>& scope = spec_->scopes[factor];
  for (const auto& entries : server_.inputs) {
    json& vector = vectors.emplace_back(json::array());
    for (const auto& [variable, numbers] : entries) {
      const auto place = std::find(scope.begin(), scope.end(), variable) - scope.begin();
      vector.push_back(variable < 0 ? numbers[0] : numbers[states[place]]);
    }
  }
  return vectors;
}

// A number that is so small that it became 0 would make a possible configuration impossible. One with few digits has no
// logarithm of full precision.
void UmBridgeOracle::check_size(double y) const {
  if (!(y < std::numeric_limits<double>::min())) return;
  OutputText number(server_.output_vector, server_.output_entry);
  json::sax_parse(answer_, &number);
  const std::string_view digits = std::string_view(number.found).substr(0, number.found.find_first_of("eE"));
  if (digits.find_first_of("123456789") == std::string_view::npos) return;
  fail(
      fmt::format("an output of {}, too small for its logarithm, allowed are 0 and numbers from {:.3g} up; the server "
                  "may return the logarithm itself",
                  shortened(number.found, 40), std::numeric_limits<double>::min()));
}

// NaN and infinities are returned unchanged; the caller refuses them.
double UmBridgeOracle::log_value(const json& answer) const {
  const auto entry = [&](const json& list, int index) {
    if (!list.is_array() || static_cast<int>(list.size()) <= index) {
      fail(fmt::format("{}/Evaluate: no output[{}][{}] in its answer '{}'", server_.url, server_.output_vector,
                       server_.output_entry, shortened(json_text(answer), 80)));
    }
    return list[index];
  };
  const json vector = entry(answer.value("output", json()), server_.output_vector);
  const json value = entry(vector, server_.output_entry);
  if (vector.size() != output_size_) {
    fail(fmt::format("{}/Evaluate: output[{}] has {} entries, and outputSizes gave it {}", server_.url,
                     server_.output_vector, vector.size(), output_size_));
  }
  if (value == json("NaN")) return std::nan("");
  double y = value.is_number() ? value.get<double>() : HUGE_VAL;
  if (value == json("-Infinity")) y = kNegInf;
  if (!value.is_number() && value != json("Infinity") && value != json("-Infinity")) {
    fail(fmt::format("{}/Evaluate: output[{}][{}] is {}, no number", server_.url, server_.output_vector,
                     server_.output_entry, shown(value)));
  }
  switch (server_.transform) {
    case Transform::kNone:
      break;
    case Transform::kLog:
      if (y < 0.0) fail(fmt::format("an output of {}, whose logarithm is none", y));
      check_size(y);
      y = std::log(y);
      break;
    case Transform::kMinus:
      y = -y;
      break;
  }
  return server_.scale * y + 0.0;  // + 0.0 turns -0 into 0: a journal does not store the sign of 0
}

std::vector<Evaluation> UmBridgeOracle::log_values(int factor, std::span<const std::vector<int>> batch) {
  std::vector<Evaluation> values;
  for (const std::vector<int>& states : batch) {
    const json body = {
        {"name", server_.model}, {"input", inputs(factor, states)}, {"config", parse_json(server_.config)}};
    values.push_back({log_value(ask("POST", "/Evaluate", body))});
  }
  return values;
}

}  // namespace

OracleSource umbridge_source(const ProgramDescription& program, std::vector<std::vector<int>> scopes) {
  auto spec = std::make_shared<Spec>(Spec{program, std::move(scopes)});
  OracleSource source = remote_source(spec->program);
  source.make = [spec](const StopSignal& stop) { return std::make_unique<UmBridgeOracle>(spec, stop); };
  return source;
}

}  // namespace treesample
