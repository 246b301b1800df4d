// Samples that are drawn after a method.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "infer/sample_calls.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

class Drawing {
 public:
  Drawing(Draft& draft, const Task& task) : draft_(draft), task_(task), random_(task.seed(), "samples") {}

  void add_samples();

 private:
  // Adds up to `count` samples to the answer, fewer once it should stop.
  using DrawChunk = std::function<void(std::int64_t count, const ShouldStop& should_stop)>;
  void draw_within_time(const DrawChunk& draw);
  void add_rejection_samples();
  [[nodiscard]] const char* why_ended(bool is_out_of_tries, bool is_out_of_calls) const;
  void add(const Assignment& x);
  [[nodiscard]] std::int64_t num_wanted() const { return task_.question().samples; }

  Draft& draft_;
  const Task& task_;
  Random random_;
};

void Drawing::add(const Assignment& x) {
  draft_.samples.push_back(task_.reduced != nullptr ? task_.reduced->lift(x) : x);
  if (!draft_.exact_sampler) draft_.sample_log_probs.push_back(draft_.approximation->log_prob(x));
  if (task_.graph.has_only_tables()) draft_.sample_log_densities.push_back(task_.graph.log_density(x));
}

void Drawing::add_samples() {
  if (draft_.exact_sampler) {
    add_rejection_samples();
    return;
  }
  // A sample from slices of elimination may take as long as log Z, and more memory. What is known is not lost by that.
  bool is_too_slow = false;
  try {
    draw_within_time([&](std::int64_t count, const ShouldStop& should_stop) {
      for (; count > 0 && (draft_.samples.empty() || !should_stop()); --count) {
        add(draft_.approximation->sample(random_));
      }
    });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kResource) return task_.run.remark("no samples: not enough memory (--memory)");
    if (error.code() != ErrorCode::kInterrupted) throw;
    is_too_slow = !task_.run.is_interrupted();
  }
  if (std::ssize(draft_.samples) < num_wanted()) {
    task_.run.remark(
        fmt::format("{} of {} samples: {}", draft_.samples.size(), num_wanted(),
                    is_too_slow ? "more would take longer than allowed (--time)" : why_ended(false, false)));
  }
}

// Draws in chunks that double. After each, the time for showing a sample is measured, and the time limit leaves room
// for that. The measurement is too short for the wall clock, so it counts processor time; drawing shows how much of
// that it gets.
void Drawing::draw_within_time(const DrawChunk& draw) {
  const std::vector<Assignment>& samples = draft_.samples;
  const Run& run = task_.run;
  const double started = run.seconds(), busy_before = run.time().busy_seconds();
  double each = 0.0;  // seconds to show one sample
  const bool is_shown = task_.run.has_time_limit() && task_.question().seconds_to_show;
  const double reserve = is_shown ? policy::kShowReserve * task_.run.time_limit() : 0.0;
  const ShouldStop should_stop = [&] {
    return task_.run.is_interrupted() ||
           task_.run.seconds_left() <= reserve + each * static_cast<double>(samples.size() + 1);
  };
  for (std::int64_t chunk = 1; std::ssize(samples) < num_wanted(); chunk *= 2) {
    const std::int64_t count = std::min(chunk, num_wanted() - std::ssize(samples));
    const std::int64_t wanted = std::ssize(samples) + count;
    draw(count, should_stop);
    if (std::ssize(samples) < wanted) return;
    if (!is_shown) continue;
    const double busy = run.time().busy_seconds() - busy_before;
    const double slowness = std::max(1.0, (run.seconds() - started) / std::max(busy, 1e-3));
    each = slowness * task_.question().seconds_to_show(samples) / static_cast<double>(samples.size());
  }
}

const char* Drawing::why_ended(bool is_out_of_tries, bool is_out_of_calls) const {
  if (task_.run.is_interrupted()) return "interrupted";
  if (draft_.error) return "a function failed";
  if (is_out_of_calls && task_.limits().unit == BudgetUnit::kCost)
    return "a budget of cost pays for none; --calls does";
  if (is_out_of_calls) return "the limit of calls (--calls, --new-calls)";
  return is_out_of_tries ? "the limit of tries (--max-tries)" : "the time limit (--time) is over";
}

// Reports the expected number of tries beforehand.
void Drawing::add_rejection_samples() {
  std::int64_t max_tries = *task_.options().max_tries;
  const double log_tries = draft_.exact_sampler->log_value() - draft_.known.log_z().value_or(kNegInf);
  const double expected = std::exp(log_tries) * static_cast<double>(num_wanted());
  // Nothing says that a try can succeed, and each may cost calls.
  if (std::isinf(expected)) max_tries = std::min(max_tries, policy::kBlindTries);
  const SummedModel* const summed = draft_.summed.get();
  // Of the simplified model, whose densities are off by factors of up to exp(log_error).
  const double of_model = task_.run.log_error() + (summed != nullptr ? summed->log_slack() : 0.0);
  double log_error = of_model;
  const auto is_exact = [&] { return 2.0 * log_error <= LogBounds::kExact; };
  const auto kind = [&] { return is_exact() ? "exact samples" : "samples"; };
  task_.run.remark(
      fmt::format("{} by rejection: about {:.3g} tries expected, at most {} allowed", kind(), expected, max_tries));
  const FactorGraph& graph = summed != nullptr ? summed->graph() : task_.graph;
  std::int64_t num_tries = 0;
  SampleCalls calls(task_, draft_);
  draw_within_time([&](std::int64_t count, const ShouldStop& should_stop) {
    if (draft_.error || calls.affordable(1) == 0) return;
    const RejectionOptions rejection{.num_samples = count, .max_tries = max_tries - num_tries};
    const Observer observer{.progress = [&](const Progress& now) { calls.note(now.spent); },
                            .should_stop = [&] { return should_stop() || calls.affordable(1) == 0; }};
    const RejectionSamples drawn = rejection_samples(graph, *draft_.exact_sampler, rejection, random_, observer);
    calls.charge({.calls = drawn.spent.calls});
    if (drawn.error) draft_.error = drawn.error;
    num_tries += drawn.num_tries;
    log_error = std::max(log_error, of_model + drawn.log_error);
    for (const Assignment& left : drawn.samples) {
      if (summed == nullptr) {
        add(left);
        continue;
      }
      Assignment x = summed->spread(left);
      summed->draw(x, random_);
      add(x);
    }
  });
  draft_.has_exact_samples = is_exact();
  if (!is_exact()) {
    const bool is_by_model = 2.0 * of_model > LogBounds::kExact;
    task_.run.remark(fmt::format("these samples are not exact: rounding{} changes log probabilities by up to {}{}",
                                 is_by_model ? " in the simplified model" : ", of factors that cancel,",
                                 tolerance_text(2.0 * log_error, 2),
                                 is_by_model ? "; --no-simplify leaves the model as it is" : ""));
  }
  const bool is_done = std::ssize(draft_.samples) == num_wanted();
  task_.run.remark(
      fmt::format("{} of {} {} after {} tries{}", draft_.samples.size(), num_wanted(), kind(), num_tries,
                  is_done ? "" : fmt::format(": {}", why_ended(num_tries >= max_tries, calls.affordable(1) == 0))));
}

}  // namespace

// Of a distribution that covers the support: an estimate of log Z from true densities.
void weigh_answer(Findings& found, const Task& task, const PhaseClock& clock) {
  Draft& draft = found.draft;
  SampleCalls calls(task, draft);
  const std::int64_t num_samples = calls.affordable(*task.options().importance);
  if (draft.known.log_z() == kNegInf || !draft.approximation || !draft.has_importance || num_samples == 0) return;
  Random random(task.seed(), "importance");
  draft.importance = importance_estimate(task.graph, *draft.approximation, static_cast<int>(num_samples), random,
                                         {.should_stop = clock.should_stop()});
  calls.charge({.calls = draft.importance->spent.calls});
  if (draft.importance->error) draft.error = draft.importance->error;
  const Configuration& sampled = draft.importance->best;
  if (!sampled.x.empty()) check_below_upper(sampled.log_density, draft.known.bounds().upper);
  if (sampled.log_density != kNegInf) draft.known.best.offer(sampled);
}

// Samples are in terms of the original model, everything else in the draft in terms of the reduced one.
void draw_samples(Findings& found, const Task& task, const PhaseClock&) {
  const Draft& draft = found.draft;
  if (draft.is_cut_off && !draft.exact_sampler) {
    task.run.remark("no samples: the memory (--memory) did not hold what they are drawn from");
    return;
  }
  if (draft.known.log_z() != kNegInf && draft.approximation) return Drawing(found.draft, task).add_samples();
  const auto& best = draft.known.best.best();
  const bool has_some = best && best->log_density != kNegInf;
  const char* const why = !has_some                         ? "no state of positive probability was found"
                          : task.run.is_interrupted()       ? "interrupted"
                          : draft.stop == StopReason::kTime ? "the time limit (--time) is over"
                          : draft.known.is_exact()
                              ? "what knows log Z has no sampler"
                              : "bounds of a part of the model are beyond the range of the search's numbers";
  task.run.remark(fmt::format("no samples: {}", why));
}

}  // namespace treesample
