#include "value/mini_bucket_sides.hpp"

#include <atomic>
#include <chrono>
#include <future>

namespace treesample {
namespace {

using Side = MiniBucketPasses::Side;

// From this number of threads on, the two bounds are computed side by side, because the loops of one bound are too
// short for more threads. With 16 threads instead of 8, one bound is 1.3 times as fast (tables of 2^19 entries); both
// side by side, with 8 each, are twice as fast.
constexpr int kLeastSideBySide = 8;  // threads

// Passes the answers of the caller's functions on to the other thread: only the calling thread may call these
// functions.
class Told {
 public:
  explicit Told(const MiniBucketOptions& options) : options_(options) {}

  [[nodiscard]] bool should_stop() { return ask(options_.should_stop, is_stopped_); }
  [[nodiscard]] bool should_settle() { return ask(options_.should_settle, is_settled_); }
  void stop() { is_stopped_ = true; }
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  [[nodiscard]] bool is_settled() const { return is_settled_; }

  void tell(double upper_share) {
    if (options_.progress) options_.progress(0.5 * (upper_share + lower_share_));
  }
  void set_lower_share(double share) { lower_share_ = share; }

 private:
  static bool ask(const ShouldStop& question, std::atomic<bool>& answer) {
    if (!answer && question && question()) answer = true;
    return answer;
  }

  const MiniBucketOptions& options_;
  std::atomic<bool> is_stopped_ = false, is_settled_ = false;
  std::atomic<double> lower_share_ = 0.0;
};

void run_side_by_side(const MiniBucketSides& sides, const MiniBucketOptions& options, int num_threads) {
  Told told(options);
  std::future<void> lower = std::async(std::launch::async, [&] {
    ThreadTeam team(num_threads / 2);
    sides.lower->run(
        options.passes, team, [&] { return told.is_settled(); }, [&] { return told.is_stopped(); },
        [&](double share) { told.set_lower_share(share); });
  });
  try {
    ThreadTeam team(num_threads - num_threads / 2);
    sides.upper->run(
        options.passes, team, [&] { return told.should_settle(); }, [&] { return told.should_stop(); },
        [&](double share) { told.tell(share); });
    while (lower.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) {
      if (!told.should_stop() && !told.should_settle()) told.tell(1.0);
    }
  } catch (...) {
    told.stop();  // before the future waits for the other thread
    throw;
  }
  lower.get();
}

}  // namespace

MiniBucketSides make_mini_bucket_sides(const FactorGraph& graph, const MiniBucketPlan& plan,
                                       const MiniBucketOptions& options) {
  const int num_threads = options.threads == 0 ? num_cores() : options.threads;
  const bool has_both = has_lower_plan(graph, options) && !plan.is_exact();
  const auto is_settled = [&] { return options.should_settle && options.should_settle(); };
  MiniBucketSides sides;
  sides.upper = std::make_unique<MiniBucketPasses>(graph, plan, Side::kUpper);
  sides.peak_bytes = plan.needed_bytes(has_both);
  const bool has_memory = 2.0 * plan.peak_bytes <= static_cast<double>(options.bytes);
  if (has_both && num_threads >= kLeastSideBySide && has_memory && !is_settled()) {
    sides.lower = std::make_unique<MiniBucketPasses>(graph, plan, Side::kLower);
    sides.peak_bytes = 2.0 * plan.peak_bytes;
    run_side_by_side(sides, options, num_threads);
    return sides;
  }
  const auto part = [&](double first, double size) -> TellShare {
    if (!options.progress) return {};
    return [&options, first, size](double share) { options.progress(first + size * share); };
  };
  ThreadTeam team(num_threads);
  sides.upper->run(options.passes, team, options.should_settle, options.should_stop, part(0.0, has_both ? 0.5 : 1.0));
  if (!has_both || is_settled()) return sides;
  sides.lower = std::make_unique<MiniBucketPasses>(graph, plan, Side::kLower);
  sides.lower->run(options.passes, team, options.should_settle, options.should_stop, part(0.5, 0.5));
  return sides;
}

}  // namespace treesample
