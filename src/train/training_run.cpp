#include "train/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/nn/network_file.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kMaxPasses = 20;  // passes over the replay without a new episode

const TrainOptions& checked(const TrainOptions& options) {
  options.validate();
  return options;
}

LearnerOptions seeded_learner(const TrainOptions& options) {
  LearnerOptions learner = options.learner;
  learner.seed = options.seed;
  return learner;
}

void create_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(ErrorCode::kWrite, fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
}

}  // namespace

TrainingRun::TrainingRun(const TrainOptions& options, TrainObserver observer)
    : options_(checked(options)),
      observer_(std::move(observer)),
      problems_(options_),
      learner_(make_network(seeded_learner(options_), problems_.source()), seeded_learner(options_)),
      replay_(static_cast<std::size_t>(options_.replay_capacity)) {
  problems_.plan_for(learner_.network());
  if (options_.folder.empty()) return;
  create_folder(options_.folder);
  const std::filesystem::path path = options_.folder / "checkpoint.safetensors";
  if (options_.resume && std::filesystem::exists(path)) {
    counters_ = load_checkpoint(path, options_, problems_, learner_, replay_);
    last_checkpoint_ = counters_.num_episodes;
  }
  progress_.emplace(options_.folder / "progress.csv", counters_.num_episodes);
}

void TrainingRun::begin() {
  if (counters_.num_episodes == 0) checkpoint(true);
}

void TrainingRun::take(const FinishedEpisode& episode) {
  replay_.add(episode.experience);
  steps_without_news_ = 0;
}

std::optional<double> TrainingRun::mean_loss() const {
  if (loss_count_ == 0) return std::nullopt;
  return loss_sum_ / loss_count_;
}

std::int64_t TrainingRun::max_steps_without_news() const {
  return std::max<std::int64_t>(1, kMaxPasses * options_.replay_capacity / options_.learner.batch_size);
}

void TrainingRun::record(const FinishedEpisode& episode) {
  ++counters_.num_episodes;
  const EpisodeRecord row = {.episode = counters_.num_episodes,
                             .problem = episode.problem,
                             .version = episode.version,
                             .steps = learner_.num_steps(),
                             .loss = mean_loss(),
                             .num_rows = episode.experience->num_rows(),
                             .measured = episode.measured};
  loss_sum_ = 0.0;
  loss_count_ = 0;
  if (progress_) progress_->append(row);
  if (observer_ && !observer_(row)) is_interrupted_ = true;
}

void TrainingRun::learn(int num_steps) {
  for (int i = 0; i < num_steps && replay_.size() > 0; ++i) {
    loss_sum_ += learner_.step(replay_);
    ++loss_count_;
    ++steps_without_news_;
  }
}

ParameterBoard::Posted TrainingRun::parameters() const {
  return {std::make_shared<const Network>(learner_.network()), learner_.num_steps()};
}

void TrainingRun::checkpoint(bool always) {
  if (options_.folder.empty()) return;
  if (!always && counters_.num_episodes < last_checkpoint_ + options_.checkpoint_every) return;
  save_checkpoint(options_.folder / "checkpoint.safetensors", options_, learner_, replay_, counters_);
  last_checkpoint_ = counters_.num_episodes;
}

TrainReport TrainingRun::finish() {
  TrainReport report = {.num_episodes = counters_.num_episodes,
                        .num_steps = learner_.num_steps(),
                        .num_rejected = counters_.num_rejected,
                        .rejected_by_worker = {},
                        .last_rejection = {},
                        .is_finished = is_finished(),
                        .has_figure = false,
                        .network = parameters().network};
  if (options_.folder.empty()) return report;
  checkpoint(true);
  const Metadata metadata = {{"training", format_train_options(options_)},
                             {"episodes", fmt::format("{}", report.num_episodes)},
                             {"steps", fmt::format("{}", report.num_steps)}};
  save_network(options_.folder / "network.safetensors",
               std::visit([&](const auto& network) { return network_tensors(network, metadata); }, *report.network));
  report.has_figure = draw_progress(options_.folder / "progress.csv");
  return report;
}

}  // namespace treesample
