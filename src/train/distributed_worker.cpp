// A worker of a distributed run.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "remote/patience.hpp"
#include "remote/process_identity.hpp"
#include "stopwatch.hpp"
#include "train/episode_codec.hpp"
#include "train/run_channel.hpp"
#include "treesample/error.hpp"
#include "treesample/nn/network_file.hpp"
#include "treesample/text.hpp"
#include "treesample/train/distributed.hpp"

namespace treesample {
namespace {

constexpr double kPauseSeconds = 0.2;
constexpr double kTellSeconds = 5.0;  // time without a learner before the user is told

class DistributedWorker {
 public:
  DistributedWorker(const RedisOptions& redis, const RunCallbacks& callbacks)
      : redis_(redis), callbacks_(callbacks), name_(ProcessIdentity::own().name()), channel_(redis, callbacks) {}

  WorkerReport work() {
    WorkerReport report;
    try {
      while (!callbacks_.keep_going || callbacks_.keep_going()) {
        const RunChannel::Head head = patiently([this] { return join(); });
        if (head.is_done) {
          report.is_run_finished = true;
          break;
        }
        const std::uint64_t number = patiently([this] { return channel_.draw_number(); });
        FinishedEpisode episode = run_numbered_episode(options_, *problems_, number, parameters_);
        episode.worker = name_;
        const std::string bytes = encode_episode(episode, fingerprint_);
        patiently([&] { return channel_.submit(bytes); });
        ++report.num_episodes;
      }
    } catch (const RedisInterrupted&) {
      // Nothing to do: the report says that the run is not finished.
    }
    report.num_reconnects = std::max<std::int64_t>(0, channel_.client().num_connections() - 1);
    return report;
  }

 private:
  // The learner repairs what is wrong on the server. Until then, and as long as the patience lasts, a worker tries
  // again and keeps what it has.
  template <typename Work>
  auto patiently(const Work& work) -> decltype(work()) {
    RedisClient& client = channel_.client();
    return try_patiently(
        redis_.patience_seconds, work,
        [&](const std::string& trouble) { client.remark(fmt::format("{}; trying again", trouble)); },
        [&] { client.pause(kPauseSeconds); });
  }

  // Waits for a learner, then brings options and parameters up to date with its head.
  RunChannel::Head join() {
    while (true) {
      const std::optional<RunChannel::Head> head = channel_.head();
      watch_learner(head.has_value() && (head->has_learner || head->is_done));
      // A run that is done but still has a learner is about to end, or a new run of that name is about to begin.
      if (head && (head->is_done ? !head->has_learner : is_up_to_date(*head))) return *head;
      channel_.client().pause(kPauseSeconds);
    }
  }

  // A worker continues for a while without a learner: the run may be resumed, and the newest episodes wait for it on
  // the server.
  void watch_learner(bool is_there) {
    if (is_there) {
      if (has_told_) channel_.client().remark(fmt::format("run '{}' has a learner", redis_.run));
      missed_since_.reset();
      has_told_ = false;
      return;
    }
    if (!missed_since_) missed_since_ = Clock::now();  // not earlier: an episode may take longer than the patience
    const double absent = seconds_since(*missed_since_);
    if (absent > redis_.patience_seconds) {
      throw Error(ErrorCode::kIo, fmt::format("redis: the run '{}' has had no learner for {:g} s (treesample train "
                                              "--redis ... --run {})",
                                              redis_.run, redis_.patience_seconds, redis_.run));
    }
    if (absent < kTellSeconds || std::exchange(has_told_, true)) return;
    channel_.client().remark(
        fmt::format("run '{}' has no learner; waiting for one for up to {:g} s (questions of infer need --model)",
                    redis_.run, redis_.patience_seconds));
  }

  // Returns false while the learner is changing them. Throws RedisTrouble if they cannot be used.
  bool is_up_to_date(const RunChannel::Head& head) {
    if (head.library_version != TREESAMPLE_VERSION) {
      throw Error(ErrorCode::kIo,
                  fmt::format("run '{}': the learner is version {} of treesample, this worker is {}; they must be the "
                              "same",
                              redis_.run, shortened(head.library_version, 40), TREESAMPLE_VERSION));
    }
    if (!problems_ || head.fingerprint != fingerprint_) {
      const std::optional<std::string> text = channel_.options_text();
      if (!text || fingerprint(*text) != head.fingerprint) return false;
      options_ = parse_train_options(*text);
      problems_ = std::make_unique<TrainingProblems>(options_);
      fingerprint_ = head.fingerprint;
      parameters_ = {};
    }
    return (parameters_.network && parameters_.version == head.version) || take_parameters();
  }

  bool take_parameters() {
    const std::optional<std::string> bytes = channel_.parameters();
    if (!bytes) return false;
    const std::string key = channel_.key("parameters");
    try {
      NetworkFile file = parse_network(parse_safetensors(*bytes, key), key);
      if (!parameters_.network) problems_->plan_for(file.network);
      const std::string& steps = file.metadata["steps"];
      std::int64_t version = 0;
      std::from_chars(steps.data(), steps.data() + steps.size(), version);
      parameters_ = {std::make_shared<const Network>(std::move(file.network)), version};
      return true;
    } catch (const Error& error) {
      throw RedisTrouble(fmt::format("parameters refused: {}", error.what()));
    }
  }

  RedisOptions redis_;
  RunCallbacks callbacks_;
  std::string name_;
  RunChannel channel_;
  TrainOptions options_;
  std::uint64_t fingerprint_ = 0;
  std::unique_ptr<TrainingProblems> problems_;
  ParameterBoard::Posted parameters_;
  std::optional<Clock::time_point> missed_since_;  // when a learner was first found missing
  bool has_told_ = false;
};

}  // namespace

WorkerReport run_worker(const RedisOptions& redis, const RunCallbacks& callbacks) {
  redis.validate();
  return DistributedWorker(redis, callbacks).work();
}

}  // namespace treesample
