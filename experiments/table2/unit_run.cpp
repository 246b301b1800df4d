#include "unit_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

#include "treesample/error.hpp"

namespace treesample::experiments {
namespace {

// A unit takes minutes, so the remaining time is predicted from episodes. Several threads may call it.
class EpisodeProgress {
 public:
  EpisodeProgress(const RunControl& control, std::int64_t episodes_per_unit)
      : show_(control.show_progress), episodes_per_unit_(static_cast<double>(episodes_per_unit)) {}

  void on_unit(const RunProgress& now) {
    const std::lock_guard lock(mutex_);
    if (num_missing_ < 0) num_missing_ = now.num_instances - now.num_finished;
    now_ = now;
    show();
  }
  void on_episode() {
    const std::lock_guard lock(mutex_);
    ++num_episodes_;
    show();
  }

 private:
  void show() {
    if (!show_) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const auto done = static_cast<double>(num_episodes_);
    const double num_new = now_.num_finished - (now_.num_instances - num_missing_);
    now_.under_way = std::max(0.0, done / episodes_per_unit_ - num_new);
    now_.remaining_seconds = num_episodes_ > 0 ? seconds * (num_missing_ * episodes_per_unit_ / done - 1.0) : -1.0;
    show_(now_);
  }

  std::function<void(const RunProgress&)> show_;
  double episodes_per_unit_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RunProgress now_;
  int num_missing_ = -1;  // units that were missing when the run began
  std::int64_t num_episodes_ = 0;
};

// The relative duration of a unit. Long units go first, so that none of them is left alone at the end.
double cost_of(const TrainingUnit& unit) {
  if (unit.column == nullptr) return 0.0;
  const Trainer& trainer = *unit.trainer;
  const double steps = static_cast<double>(trainer.steps_per_episode) * (trainer.bellman_weight > 0.0 ? 2.0 : 1.0);
  double size = 1.0;
  if (unit.column->architecture == "mlp") {
    for (const int width : trainer.hidden) size += static_cast<double>(width) * width / (4.0 * 256 * 256);
  } else {
    size = std::pow(trainer.iterations / 4.0, 2.0) * (trainer.global_after > 0 ? 2.0 : 1.0);
  }
  return size * (20.0 + steps);
}

}  // namespace

TrainingSize size_of(const ExperimentOptions& options) {
  const TrainingSize size{.budget = options.budget, .num_episodes = options.num_episodes, .seed = options.seed};
  check_range("reproduce", "num_episodes", size.num_episodes, 2, 1 << 30);
  return size;
}

Fingerprint shown_training(const std::string& experiment, const TrainingSize& size) {
  const TrainOptions training = train_options({}, size);
  return {{"experiment", experiment},
          {"budget", fmt::format("{}", size.budget)},
          {"episodes", fmt::format("{}", size.num_episodes)},
          {"seed", fmt::format("{}", size.seed)},
          {"version", TREESAMPLE_VERSION},
          {"c", fmt::format("{}", training.episode.c)},
          {"c without network", fmt::format("{}", training.plain_c)},
          {"learner steps per episode", fmt::format("{}", training.steps_per_episode)},
          {"episodes between two that are measured", fmt::format("{}", training.assess_every)}};
}

std::optional<std::vector<Numbers>> run_units(const std::string& experiment, const std::vector<TrainingUnit>& units,
                                              const ExperimentOptions& options, const RunControl& control) {
  const TrainingSize size = size_of(options);
  std::vector<std::size_t> turn(units.size());
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  std::stable_sort(turn.begin(), turn.end(),
                   [&](std::size_t a, std::size_t b) { return cost_of(units[a]) > cost_of(units[b]); });
  std::vector<std::string> keys;
  for (const std::size_t u : turn) keys.push_back(key_of(units[u]));
  Fingerprint fingerprint = shown_training(experiment, size);
  fingerprint.emplace_back("training options", format_train_options(train_options({}, size)));
  RunStore store(run_file(options), fingerprint);
  EpisodeProgress progress(control, size.num_episodes);
  RunControl inner = control;
  inner.show_progress = [&](const RunProgress& now) { progress.on_unit(now); };
  std::optional<std::vector<Numbers>> numbers = run_instances(
      store, keys,
      [&](int t) {
        return run_training_unit(units[turn[t]], size, [&] {
          progress.on_episode();
          return !control.is_interrupted();
        });
      },
      inner);
  if (!numbers) return std::nullopt;
  std::vector<Numbers> in_order(units.size());
  for (std::size_t t = 0; t < turn.size(); ++t) in_order[turn[t]] = std::move((*numbers)[t]);
  return in_order;
}

}  // namespace treesample::experiments
