// The learner of a distributed run.
#include <fmt/format.h>

#include <algorithm>

#include "remote/patience.hpp"
#include "remote/run_lease.hpp"
#include "train/arrivals.hpp"
#include "train/episode_codec.hpp"
#include "train/run_channel.hpp"
#include "train/training_run.hpp"
#include "treesample/error.hpp"
#include "treesample/nn/network_file.hpp"
#include "treesample/train/distributed.hpp"

namespace treesample {
namespace {

constexpr int kStepsPerPoll = 8;
constexpr int kPollsPerPublication = 4;
constexpr double kWaitSeconds = 0.2;
constexpr double kRestoreSeconds = 5.0;  // time without an episode before a repair; doubles each time

class DistributedLearner {
 public:
  // The lease is taken first, so that a learner that is refused has changed neither keys nor files.
  DistributedLearner(const TrainOptions& options, const RedisOptions& redis, const TrainObserver& observer,
                     const RunCallbacks& callbacks)
      : redis_(redis),
        callbacks_(callbacks),
        channel_(redis, callbacks),
        lease_(channel_.client(), channel_.key("lease"), redis.run, "learner"),
        run_(options, observer),
        text_(format_train_options(run_.options())),
        arrivals_(callbacks.remark) {}

  TrainReport work() {
    try {
      patiently([this] {
        if (run_.counters().num_episodes == 0) channel_.reset();
        restore();
      });
      run_.begin();
      while (!run_.is_finished() && !run_.is_interrupted() && (!callbacks_.keep_going || callbacks_.keep_going())) {
        patiently([this] { poll(); });
      }
      if (run_.is_finished()) {
        patiently([this] {
          publish_parameters();
          channel_.announce_end();
        });
      }
    } catch (const RedisInterrupted&) {
      // Nothing to do: the report says that the run is not finished.
    }
    TrainReport report = run_.finish();
    report.rejected_by_worker = arrivals_.refused_by_worker();
    report.last_rejection = arrivals_.last_reason();
    return report;
  }

 private:
  // Repairs damage that a worker, an accident or another program has done to the keys, and tries the work again, until
  // it has failed for as long as the patience lasts.
  template <typename Work>
  void patiently(const Work& work) {
    RedisClient& client = channel_.client();
    const auto put_right = [&] {
      client.pause(kWaitSeconds);
      try {
        restore();
      } catch (const RedisTrouble&) {  // the server is still in trouble; work() will report it
      }
    };
    try_patiently(
        redis_.patience_seconds, work, [&](const std::string& trouble) { client.remark(trouble); }, put_right);
  }

  // Puts everything on the server in order: at the start, after the server was away and may have come back empty, and
  // if no episodes arrive.
  void restore() {
    lease_.renew(true);
    std::string& position = run_.counters().stream_position;
    position = channel_.repair_episodes(position);
    channel_.start_numbers_at(run_.counters().next_number);
    channel_.publish_options(text_);
    publish_parameters();
    is_lease_lost_ = false;
    num_connections_ = channel_.client().num_connections();
  }

  // The version is part of the sealed content, so that nobody can change it on the way.
  void publish_parameters() {
    const ParameterBoard::Posted now = run_.parameters();
    const Metadata metadata = {{"steps", fmt::format("{}", now.version)}};
    const TensorFile file =
        std::visit([&](const auto& network) { return network_tensors(network, metadata); }, *now.network);
    channel_.publish_parameters(write_safetensors(file), now.version);
  }

  void poll() {
    const bool has_work = run_.has_work();
    const auto entries = channel_.read_episodes(run_.counters().stream_position, 32, has_work ? 0.0 : kWaitSeconds);
    for (const StreamEntry& entry : entries) {
      if (run_.is_finished() || run_.is_interrupted()) return;
      take(entry);
      renew_lease();
    }
    forget_stored();
    renew_lease();
    const bool was_away = channel_.client().num_connections() != num_connections_;
    if (is_lease_lost_ || was_away || is_time_to_restore()) restore();
    arrivals_.tell_when_waiting(
        fmt::format("{} of {} so far", run_.counters().num_episodes, run_.options().num_episodes));
    if (!has_work && entries.empty()) return;
    for (int i = 0; i < kStepsPerPoll; ++i) {
      run_.learn(1);
      renew_lease();
    }
    if (++num_polls_ % kPollsPerPublication == 0) publish_parameters();
  }

  // Steps and checkpoints may take long, so the lease is renewed between any two of them.
  void renew_lease() {
    if (!lease_.renew()) is_lease_lost_ = true;
  }

  bool is_time_to_restore() {
    const double waited = arrivals_.seconds_without();
    if (waited < kRestoreSeconds) next_restore_ = kRestoreSeconds;
    if (waited < next_restore_) return false;
    next_restore_ = 2.0 * waited;
    return true;
  }

  void take(const StreamEntry& entry) {
    run_.counters().stream_position = entry.position;
    taken_positions_.push_back(entry.position);
    std::string worker = "an unknown sender";
    try {
      const FinishedEpisode episode = open(entry, worker);
      run_.counters().taken.insert(episode.problem);
      run_.counters().next_number = std::max(run_.counters().next_number, episode.problem + 1);
      run_.take(episode);
      run_.record(episode);
      arrivals_.accept(worker);
    } catch (const RefusedEpisode& refused) {
      ++run_.counters().num_rejected;
      arrivals_.refuse(worker, refused.reason);
      if (refused.is_number_wrong) channel_.start_numbers_at(run_.counters().next_number);
    }
    run_.checkpoint();
  }

  struct RefusedEpisode {
    std::string reason;
    bool is_number_wrong = false;  // true if the counter on the server may be wrong
  };

  // Sets `worker` as soon as it is known. Throws RefusedEpisode.
  FinishedEpisode open(const StreamEntry& entry, std::string& worker) const {
    FinishedEpisode episode;
    try {
      if (is_foreign_episode(entry.content)) throw RefusedEpisode{"it has the format of another version of treesample"};
      const std::string_view bytes = channel_.seal().open("episode", entry.content);
      worker = "worker " + episode_worker(bytes);
      episode = decode_episode(bytes, fingerprint(text_), run_.problems());
    } catch (const Error& error) {
      throw RefusedEpisode{error.what()};
    }
    const RunCounters& counters = run_.counters();
    if (counters.taken.contains(episode.problem)) {  // it was sent twice, because the reply to the first was lost
      throw RefusedEpisode{fmt::format("number {} was taken before", episode.problem), true};
    }
    if (episode.problem > counters.next_number + kMostNumbersAhead) {
      throw RefusedEpisode{fmt::format("number {} is far beyond those of this run", episode.problem), true};
    }
    return episode;
  }

  void forget_stored() {
    if (run_.has_unstored()) return;
    channel_.forget(taken_positions_);
    taken_positions_.clear();
  }

  RedisOptions redis_;
  RunCallbacks callbacks_;
  RunChannel channel_;
  RunLease lease_;
  TrainingRun run_;
  std::string text_;
  Arrivals arrivals_;
  std::vector<std::string> taken_positions_;  // positions taken since the last checkpoint
  bool is_lease_lost_ = false;                // perhaps only for a while: the server may have lost everything
  std::int64_t num_connections_ = 0;
  std::int64_t num_polls_ = 0;
  double next_restore_ = kRestoreSeconds;
};

}  // namespace

TrainReport train_distributed(const TrainOptions& options, const RedisOptions& redis, const TrainObserver& observer,
                              const RunCallbacks& callbacks) {
  options.validate();
  redis.validate();
  check_argument(!options.is_deterministic, "train_distributed", "a distributed run cannot be deterministic");
  check_argument(!options.problems.generator, "train_distributed",
                 "workers on other machines do not have the generator: --models FOLDER of what it makes is for them");
  try {
    return DistributedLearner(options, redis, observer, callbacks).work();
  } catch (const RedisInterrupted&) {
    return {};  // the run has not begun
  }
}

}  // namespace treesample
