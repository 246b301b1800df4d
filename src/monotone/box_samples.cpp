#include "monotone/box_samples.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "evaluate/betting.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Samples whose values are already known cost nothing. They are informative too, but their number is limited.
constexpr std::int64_t kFewSamples = 2000, kSamplesPerCall = 50;
constexpr double kExpectedWithoutLimit = 1e4;  // expected number of samples if no number of calls ends them

class Sampling {
 public:
  Sampling(const BoxTree& tree, const MonotoneFunctions& functions, Caller& caller, const BoxSamplesSetup& setup)
      : tree_(tree),
        functions_(functions),
        caller_(caller),
        setup_(setup),
        random_(setup.seed, "box samples"),
        interval_(setup.confidence) {
    const auto num_nodes = static_cast<int>(tree.nodes().size());
    double most = kNegInf;
    for (int node = 0; node < num_nodes; ++node) {
      if (tree.nodes()[node].is_leaf()) most = std::max(most, tree.nodes()[node].log_gap());
    }
    if (!std::isfinite(most)) return;
    for (int node = 0; node < num_nodes; ++node) {
      const double log_gap = tree.nodes()[node].is_leaf() ? tree.nodes()[node].log_gap() : kNegInf;
      if (log_gap == kNegInf) continue;
      leaves_.push_back(node);
      total_ += std::exp(log_gap - most);
      cumulative_.push_back(total_);
    }
    log_gap_ = most + std::log(total_);
  }

  std::optional<BoxSamples> run() {
    if (leaves_.empty()) return {};
    while (!setup_.is_over() && num_used_ < kFewSamples + kSamplesPerCall * num_asked_) {
      if (use_first()) continue;
      if (can_draw_ && caller_.has_room()) {
        draw();
      } else if (caller_.num_pending() > 0) {
        setup_.wait();
      } else if (drawn_.empty() || !ask(drawn_.front())) {  // there is a second function, or no more calls
        break;
      }
    }
    return result();
  }

 private:
  struct Drawn {
    Assignment x;
    int leaf;
    double expected;  // total number of samples, as expected before this one was drawn: bets may not depend on it
    bool is_asked = false;
  };

  [[nodiscard]] double expected() const {
    const auto used = static_cast<double>(num_used_);
    const double more = setup_.calls_left() * used / static_cast<double>(num_asked_ + 1);
    return std::isfinite(more) ? used + more : kExpectedWithoutLimit;
  }

  // Samples are used in the order in which they were drawn, so that slow ones are not left out.
  bool use_first() {
    if (drawn_.empty()) return false;
    const std::optional<double> value = functions_.value(drawn_.front().x);
    if (!value) return false;
    const Drawn drawn = std::move(drawn_.front());
    drawn_.pop_front();
    const BoxTree::Node& node = tree_.nodes()[drawn.leaf];
    const double least = ratio(node.lower, node.upper);
    const double z = std::clamp((ratio(*value, node.upper) - least) / (1.0 - least), 0.0, 1.0);
    num_asked_ += drawn.is_asked ? 1 : 0;
    ++num_used_;
    interval_.add(z, drawn.expected);
    sum_ += z;
    squares_ += z * z;
    return true;
  }

  void draw() {
    const double num_expected = expected();
    const double at = random_.uniform() * total_;
    const auto place = std::upper_bound(cumulative_.begin(), cumulative_.end(), at) - cumulative_.begin();
    const int leaf = leaves_[std::min<std::size_t>(static_cast<std::size_t>(place), leaves_.size() - 1)];
    drawn_.push_back({tree_.masses().sample(tree_.box(leaf), random_), leaf, num_expected});
    can_draw_ = ask(drawn_.back());
  }

  // Returns false if the call cannot be paid for.
  bool ask(Drawn& drawn) {
    const auto question = functions_.unknown(drawn.x);
    if (!question || functions_.value(drawn.x)) return true;
    CallRequest request = caller_.request(*question, -1);
    if (!caller_.can_pay(request.price)) return false;
    caller_.submit(std::move(request));
    drawn.is_asked = true;
    return true;
  }

  std::optional<BoxSamples> result() const {
    if (num_used_ == 0) return {};
    const MeanLimits limits = interval_.limits();
    const auto log_z = [&](double mean) {
      return log_add_exp(tree_.bounds().lower, mean > 0.0 ? log_gap_ + std::log(mean) : kNegInf);
    };
    const auto count = static_cast<double>(num_used_);
    const double mean = sum_ / count;
    const double variance = std::max(0.0, squares_ / count - mean * mean);
    BoxSamples samples{.log_z = log_z(mean), .confidence = setup_.confidence};
    samples.interval =
        LogBounds{log_z(limits.lower), log_z(limits.upper)}.widened(tree_.rounding() + functions_.noise());
    // The part that `count` samples miss has a probability of about 1 / count, and z is at most 1 there, whatever the
    // variance is.
    const double open = std::exp(log_gap_ - samples.log_z);
    const bool is_blind = !(kFewestHits * open <= count) || samples.interval.lower == kNegInf;
    samples.std_error = is_blind ? HUGE_VAL : open * std::max(std::sqrt(variance / count), 1.0 / count);
    samples.num_samples = num_used_;
    samples.num_asked = num_asked_;
    return samples;
  }

  const BoxTree& tree_;
  const MonotoneFunctions& functions_;
  Caller& caller_;
  const BoxSamplesSetup& setup_;
  Random random_;
  BettingInterval interval_;
  std::vector<int> leaves_;  // the ones that are open
  std::vector<double> cumulative_;
  double total_ = 0.0, log_gap_ = kNegInf;
  std::deque<Drawn> drawn_;
  bool can_draw_ = true;
  std::int64_t num_used_ = 0, num_asked_ = 0;
  double sum_ = 0.0, squares_ = 0.0;
};

}  // namespace

std::optional<BoxSamples> sample_boxes(const BoxTree& tree, const MonotoneFunctions& functions, Caller& caller,
                                       const BoxSamplesSetup& setup) {
  return Sampling(tree, functions, caller, setup).run();
}

}  // namespace treesample
