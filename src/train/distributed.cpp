#include "treesample/train/distributed.hpp"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "train/episode_codec.hpp"
#include "train/run_channel.hpp"
#include "train/training_run.hpp"
#include "treesample/error.hpp"
#include "treesample/nn/network_file.hpp"

namespace treesample {
namespace {

constexpr int kStepsPerPoll = 8;
constexpr int kPollsPerPublication = 4;
constexpr double kWaitSeconds = 0.2;

class DistributedLearner {
 public:
  DistributedLearner(const TrainOptions& options, const RedisOptions& redis, const TrainObserver& observer,
                     const KeepGoing& keep_going)
      : run_(options, observer), keep_going_(keep_going), channel_(redis, keep_going) {}

  TrainReport work() {
    try {
      if (run_.counters().num_episodes == 0) channel_.reset();
      publish_all();
      while (!run_.is_finished() && !run_.is_interrupted() && (!keep_going_ || keep_going_())) poll();
      if (run_.is_finished()) {
        publish_parameters();
        channel_.announce_end();
      }
    } catch (const RedisInterrupted&) {
      // The report says that the run is not finished.
    }
    return run_.finish();
  }

 private:
  // A server that was away may have come back empty.
  void publish_all() {
    text_ = format_train_options(run_.options());
    channel_.publish_options(text_);
    channel_.start_numbers_at(run_.counters().next_number);
    publish_parameters();
    num_connections_ = channel_.client().num_connections();
  }

  void publish_parameters() {
    const ParameterBoard::Posted now = run_.parameters();
    const TensorFile file = std::visit([&](const auto& network) { return network_tensors(network); }, *now.network);
    channel_.publish_parameters(write_safetensors(file), now.version);
  }

  void poll() {
    const bool has_work = run_.has_work();
    const auto entries = channel_.read_episodes(run_.counters().stream_position, 32, has_work ? 0.0 : kWaitSeconds);
    for (const RunChannel::Entry& entry : entries) {
      if (run_.is_finished() || run_.is_interrupted()) return;
      take(entry);
    }
    if (channel_.client().num_connections() != num_connections_) publish_all();
    if (!has_work && entries.empty()) return;
    run_.learn(kStepsPerPoll);
    if (++num_polls_ % kPollsPerPublication == 0) publish_parameters();
  }

  void take(const RunChannel::Entry& entry) {
    run_.counters().stream_position = entry.position;
    FinishedEpisode episode;
    try {
      episode = decode_episode(entry.episode, fingerprint(text_), run_.problems());
    } catch (const Error&) {
      ++run_.counters().num_rejected;
      return;
    }
    if (!taken_.insert(episode.problem).second) {  // sent twice, because the answer to the first got lost
      ++run_.counters().num_rejected;
      return;
    }
    run_.counters().next_number = std::max(run_.counters().next_number, episode.problem + 1);
    run_.take(episode);
    run_.record(episode);
    run_.checkpoint();
  }

  TrainingRun run_;
  KeepGoing keep_going_;
  RunChannel channel_;
  std::string text_;
  std::unordered_set<std::uint64_t> taken_;
  std::int64_t num_connections_ = 0;
  std::int64_t num_polls_ = 0;
};

class DistributedWorker {
 public:
  DistributedWorker(const RedisOptions& redis, const KeepGoing& keep_going)
      : redis_(redis), keep_going_(keep_going), channel_(redis, keep_going) {}

  WorkerReport work() {
    WorkerReport report;
    try {
      while (!keep_going_ || keep_going_()) {
        const RunChannel::Head head = wait_for_run();
        if (head.is_done) {
          report.is_run_finished = true;
          break;
        }
        if (!join(head)) continue;
        const std::uint64_t number = channel_.draw_number();
        const FinishedEpisode episode = run_numbered_episode(options_, *problems_, number, parameters_);
        channel_.submit(encode_episode(episode, fingerprint_));
        ++report.num_episodes;
      }
    } catch (const RedisInterrupted&) {
      // The report says that the run is not finished.
    }
    report.num_reconnects = std::max<std::int64_t>(0, channel_.client().num_connections() - 1);
    return report;
  }

 private:
  RunChannel::Head wait_for_run() {
    double waited = 0.0;
    while (true) {
      if (std::optional<RunChannel::Head> head = channel_.head()) return *head;
      if (waited > redis_.patience_seconds) {
        throw Error(ErrorCode::kIo, fmt::format("redis: no learner has published the run '{}' within {} s", redis_.run,
                                                redis_.patience_seconds));
      }
      channel_.client().pause(kWaitSeconds);
      waited += kWaitSeconds;
    }
  }

  // Brings options and parameters up to what the head tells. False when the learner is just changing them.
  bool join(const RunChannel::Head& head) {
    if (!problems_ || head.fingerprint != fingerprint_) {
      const std::optional<std::string> text = channel_.options_text();
      if (!text || fingerprint(*text) != head.fingerprint) return wait_a_little();
      options_ = parse_train_options(*text);
      problems_ = std::make_unique<TrainingProblems>(options_);
      fingerprint_ = head.fingerprint;
      parameters_ = {};
    }
    if (parameters_.network && parameters_.version == head.version) return true;
    const std::optional<std::string> bytes = channel_.parameters();
    if (!bytes) return wait_a_little();
    NetworkFile file = parse_network(parse_safetensors(*bytes, "parameters"), "parameters");
    if (!parameters_.network) problems_->plan_for(file.network);
    parameters_ = {std::make_shared<const Network>(std::move(file.network)), head.version};
    return true;
  }

  bool wait_a_little() {
    channel_.client().pause(kWaitSeconds);
    return false;
  }

  RedisOptions redis_;
  KeepGoing keep_going_;
  RunChannel channel_;
  TrainOptions options_;
  std::uint64_t fingerprint_ = 0;
  std::unique_ptr<TrainingProblems> problems_;
  ParameterBoard::Posted parameters_;
};

}  // namespace

TrainReport train_distributed(const TrainOptions& options, const RedisOptions& redis, const TrainObserver& observer,
                              const KeepGoing& keep_going) {
  redis.validate();
  check_argument(!options.is_deterministic, "train_distributed", "a distributed run cannot be deterministic");
  return DistributedLearner(options, redis, observer, keep_going).work();
}

WorkerReport run_worker(const RedisOptions& redis, const KeepGoing& keep_going) {
  redis.validate();
  return DistributedWorker(redis, keep_going).work();
}

}  // namespace treesample
