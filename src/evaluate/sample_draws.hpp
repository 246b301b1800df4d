// Samples with their densities, drawn by several threads, with the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "evaluate/sampled_density.hpp"
#include "space/run_watch.hpp"
#include "thread_team.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

struct Draw {
  Assignment x;
  std::optional<double> log_density;      // none if a factor failed
  double log_prob = 0.0, rounding = 0.0;  // rounding: that of the density
  bool is_known = false;
  Spending spent;
  std::optional<Error> error;
};

// Samples, one after the other. Each block of samples has its own random stream, so that it does not matter which
// thread draws it. Several threads draw ahead, for about kRoundSeconds; a single thread draws what is asked for.
// `find_least` says which weights are small enough to be given up. It is asked again whenever the number of samples has
// grown fourfold. By then all earlier samples have been handed out, so the next ones may depend on them.
class Draws {
 public:
  Draws(const FactorGraph& graph, const BoundedSampler& sampler, const BoundedImportanceOptions& options,
        std::function<double()> find_least, std::uint64_t seed)
      : graph_(graph),
        block_size_(graph.num_variables() > kMostInBlocks ? 1 : kBlock),
        known_(options.known.value_or(KnownPart())),
        find_least_(std::move(find_least)),
        seed_(seed),
        most_samples_(static_cast<std::uint64_t>(options.max_samples)),
        samplers_(static_cast<std::size_t>(graph.has_only_tables() ? options.threads : 1), sampler),
        team_(static_cast<int>(samplers_.size())) {
    stops_.emplace_back([this, drop = options.should_drop] { return is_dropped_ = drop && drop(); });
    stops_.resize(samplers_.size(), StopCheck([this] { return is_dropped_.load(); }));
  }

  // Null if the sample was dropped (BoundedImportanceOptions::should_drop).
  const Draw* next() {
    if (next_ == ahead_.size() && !try_to_draw_ahead()) return nullptr;
    ++num_drawn_;
    num_given_up_ += ahead_[next_].log_prob == kGivenUp ? 1.0 : 0.0;
    return &ahead_[next_++];
  }

 private:
  static constexpr double kGivenUp = std::numeric_limits<double>::infinity();  // log_prob of a sample that was given up
  static constexpr std::size_t kBlock = 8;                                     // samples that share one stream
  static constexpr int kMostInBlocks = 10'000;  // variables: in larger models, each sample has its own stream
  static constexpr std::size_t kMostBlocks = 64;
  static constexpr std::uint64_t kFirstLook = 32;  // blocks
  static constexpr double kRoundSeconds = 20e-3;

  [[nodiscard]] Random stream(std::uint64_t block) const {
    return Random(seed_ + block * std::uint64_t{0x9E3779B97F4A7C15}, "block of samples");
  }
  void draw(Draw& into, Random& random, std::size_t worker) {
    const BoundedSampler& sampler = samplers_[worker];
    into = Draw{std::move(into.x)};
    into.x.assign(static_cast<std::size_t>(graph_.num_variables()), -1);
    if (can_give_up_ && sampler.sample_or_give_up) {
      into.log_prob = sampler.sample_or_give_up(into.x, random, least_, stops_[worker]);
      if (into.log_prob == kGivenUp) {
        into.log_density = kNegInf;
        return;
      }
    } else {
      into.log_prob = sampler.sample_into(into.x, random, stops_[worker]);
    }
    const std::optional<CompensatedSum> density = density_if_answered(graph_, into.x, into.spent, into.error);
    if (!density) return;
    into.log_density = density->value();
    into.rounding = density->error();
    into.is_known = known_.holds && known_.holds(into.x);
  }
  // Giving up takes some time too, so it is switched off if it is rare.
  void look() {
    can_give_up_ = can_give_up_ && (least_ == kTiniest || num_given_up_ > kFewGivenUp * num_drawn_);
    least_ = std::clamp(find_least_(), kTiniest, 1.0);
    next_look_ *= 4;
    num_drawn_ = num_given_up_ = 0.0;
  }
  bool try_to_draw_ahead() {
    try {
      draw_ahead();
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInterrupted) throw;
      return false;
    }
  }
  void draw_ahead() {
    next_ = 0;
    if (block_ == next_look_ && in_block_ == 0 && !is_round_begun_) look();
    if (team_.size() == 1) {
      ahead_.resize(1);
      if (in_block_ == 0) random_.emplace(stream(block_++));
      in_block_ = (in_block_ + 1) % block_size_;
      draw(ahead_[0], *random_, 0);
      return;
    }
    if (!is_round_begun_) begin_round();
    team_.end();
    is_round_begun_ = false;
    std::swap(ahead_, coming_);
    if (clock_->seconds() < kRoundSeconds) num_blocks_ = std::min(2 * num_blocks_, kMostBlocks);
    // The other threads continue while these samples are used, unless the next look depends on these.
    if (block_ != next_look_ && block_ * block_size_ < most_samples_) begin_round();
  }
  void begin_round() {
    const std::size_t count =
        std::min<std::uint64_t>(num_blocks_ * static_cast<std::size_t>(team_.size()), next_look_ - block_);
    coming_.resize(count * block_size_);
    clock_.emplace(Limits(), Observer());
    draw_blocks_ = [this, block = block_](std::size_t first, std::size_t, int worker) {
      Random random = stream(block + first);
      for (std::size_t i = 0; i < block_size_; ++i) {
        draw(coming_[first * block_size_ + i], random, static_cast<std::size_t>(worker));
      }
    };
    block_ += count;
    is_round_begun_ = true;
    team_.begin(count, 1, draw_blocks_);
  }

  const FactorGraph& graph_;
  const std::size_t block_size_;
  static constexpr double kTiniest = 1e-300;  // with this weight, only impossible samples are given up
  static constexpr double kFewGivenUp = 0.1;
  const KnownPart known_;
  const std::function<double()> find_least_;
  bool can_give_up_ = graph_.has_only_tables();  // a program's calls are too expensive for it
  double num_drawn_ = 0.0, num_given_up_ = 0.0;  // since the last look
  double least_ = kTiniest;
  std::uint64_t seed_, block_ = 0, next_look_ = kFirstLook;
  std::size_t in_block_ = 0, next_ = 0, num_blocks_ = 1;  // num_blocks_: per thread in one round
  const std::uint64_t most_samples_;
  std::vector<BoundedSampler> samplers_;  // by thread, because a sampler may have its own memory
  std::vector<StopCheck> stops_;          // by thread
  std::atomic<bool> is_dropped_ = false;
  std::optional<Random> random_;
  std::vector<Draw> ahead_, coming_;  // ahead_ is being handed out, coming_ is being drawn
  std::optional<RunWatch> clock_;     // of the round
  bool is_round_begun_ = false;
  ThreadTeam::Work draw_blocks_;
  ThreadTeam team_;  // last, so that it ends before the things that it uses
};

}  // namespace treesample
