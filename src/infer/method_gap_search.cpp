// The search with certified bounds, then its samplers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/annealing_phase.hpp"
#include "infer/count_beside.hpp"
#include "infer/counting.hpp"
#include "infer/cutset_phase.hpp"
#include "infer/leaves.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "infer/sample_calls.hpp"
#include "infer/words.hpp"
#include "space/num_threads.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/first_bounds.hpp"
#include "treesample/search/solved_marginals.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// What the search sees: without barren variables.
const FactorGraph& searched_graph(const Findings& found, const Task& task) {
  return found.draft.summed ? found.draft.summed->graph() : task.graph;
}

double log_slack(const Findings& found) { return found.draft.summed ? found.draft.summed->log_slack() : 0.0; }

// For the whole model.
LogBounds certified(const LogBounds& bounds, const Findings& found) { return bounds.widened(log_slack(found)); }

// Ends the search where it is late, or where its bounds are far apart and hardly move any more.
class BoundsWatch {
 public:
  BoundsWatch(const Findings& found, const Task& task, const PhaseClock& clock)
      : found_(found), task_(task), clock_(clock), start_(task.run.seconds()), is_over_(task.run.search_end()) {}

  void report(Progress now);
  [[nodiscard]] bool should_stop() const { return is_early() || is_over_(); }
  [[nodiscard]] bool is_early() const { return ends_far_ || is_late_; }
  [[nodiscard]] double last_estimate() const { return last_estimate_; }

 private:
  bool hardly_moves(double upper, bool is_far);

  const Findings& found_;
  const Task& task_;
  const PhaseClock& clock_;
  const double start_;
  const ShouldStop is_over_;
  double last_estimate_ = kNegInf;
  std::optional<double> first_upper_;
  bool is_late_ = false, ends_far_ = false;
};

void BoundsWatch::report(Progress now) {
  const Run& run = task_.run;
  last_estimate_ = now.estimate.value_or(kNegInf);
  const double gap = task_.limits().gap == 0.0 ? now.log_z.width() : 0.0;
  ends_far_ = run.has_time_limit() && gap > policy::kOpenGap && hardly_moves(now.log_z.upper, gap > policy::kFarGap);
  const double passes = policy::kSearchPassSeconds * static_cast<double>(now.num_nodes);
  is_late_ = passes > clock_.seconds_left();
  now.log_z = certified(now.log_z, found_);
  run.tell(now);
}

// True when the upper bound hardly moves: late (earlier where it is far from the lower one), or where its pace promises
// little by then. A rising lower bound is no reason to go on, because sums over joint states give better ones.
bool BoundsWatch::hardly_moves(double upper, bool is_far) {
  const Run& run = task_.run;
  if (!first_upper_) first_upper_ = upper;
  const double end = std::max(is_far ? run.at(policy::kFarSearchEnd) : clock_.end(),
                              start_ + policy::kLeastSearchShare * run.time_limit());
  const double searched = run.seconds() - start_, left = end - run.seconds();
  if (left <= 0.0) return true;
  const bool is_known = searched > policy::kFarLookShare * run.time_limit();
  return is_known && (*first_upper_ - upper) * left < policy::kFarFall * searched;
}

SearchResult search_with(const Findings& found, const Task& task, const PhaseClock& clock, BoundsWatch& watch) {
  const Run& run = task.run;
  Limits limits = task.limits();
  limits.bytes /= policy::kSearchMemoryDivisor;
  if (!run.has_time_limit()) limits.threads = 1;  // the same bits for any number of threads
  limits.seconds = found.beside ? HUGE_VAL : std::max(0.0, clock.seconds_left());
  const bool has_all = found.has_log_z && (found.draft.known.has_marginals() || !task.question().marginals);
  if (has_all) {
    limits.seconds =
        std::min(limits.seconds, std::max(policy::kBestSearchSeconds, policy::kBestSearchShare * run.seconds()));
  }
  SearchOptions options{.select = task.plan.select};
  options.c = *task.options().c;
  options.epsilon = *task.options().epsilon;
  options.answer_order = *task.options().answer_order;
  options.seconds_per_node = policy::kSearchPassSeconds;
  options.observer_interval = policy::kTraversalsBetweenLooks;
  const SummedModel* const summed = found.draft.summed.get();
  if (found.first) options.first_configurations = {summed ? summed->left(found.first->x) : found.first->x};
  return search(searched_graph(found, task), found.space->space, found.space->leaves.values, limits, options,
                {.progress = [&](const Progress& now) { watch.report(now); },
                 .should_stop = [&] { return watch.should_stop(); }});
}

// Chooses the distribution that samples are drawn from; a certified one if it is asked for and possible.
void choose_sampler(Findings& found, const Task& task) {
  Draft& draft = found.draft;
  const auto complete = [&](std::shared_ptr<const Approximation> sampler) -> std::shared_ptr<const Approximation> {
    if (!draft.summed) return sampler;
    return std::make_shared<CompletedApproximation>(draft.summed, std::move(sampler));
  };
  draft.approximation = complete(found.upper);
  // Where P_U's own log Z is not above that of the model, it is the target.
  const LogBounds& bounds = found.searched->report.log_z;
  if (draft.known.is_exact() && found.upper->log_value() - bounds.lower > LogBounds::kExact) say_cut_off(draft, task);
  const SampleSource source = *task.options().sampler;
  if (source == SampleSource::kRejection) draft.exact_sampler = found.upper;
  if (source != SampleSource::kLower) return;
  const auto lower = std::make_shared<SearchApproximation>(*found.searched, SamplerKind::kLower, task.run.until());
  if (lower->log_value() == kNegInf) return;
  draft.approximation = complete(lower);
  const double slack = log_slack(found) + 2.0 * task.run.log_error();
  const double divergence = certified(found.searched->report.log_z, found).upper - lower->log_value() + slack;
  draft.sampler_divergence = divergence > 0.0 ? std::nextafter(divergence, HUGE_VAL) : 0.0;
}

void add_stored_best(Findings& found, const Task& task) {
  const std::optional<StoredBest> stored = best_configuration(*found.searched, task.run.until());
  if (!stored) return;
  Draft& draft = found.draft;
  if (draft.summed) draft.known.best.offer(*completed(stored, draft.summed.get(), task.graph));
  if (!draft.summed) offer_stored_best(draft, *stored, *found.searched, task.graph);
}

// What the store tells by passes over its nodes; each of them may be cut short.
void read_store(Findings& found, const Task& task) {
  unless_given_up([&] {
    found.upper = SearchApproximation::upper(*found.searched, task.run.until());
    if (found.upper && !(found.draft.known.is_exact() && !wants_more(task.question()))) choose_sampler(found, task);
    return true;
  });
  unless_given_up([&] {
    add_stored_best(found, task);
    return true;
  });
}

// Of a solved search: from its store, otherwise by elimination where that is quick.
void add_solved_marginals(Findings& found, const Task& task) {
  const double seconds = task.run.box_seconds(policy::kExactMarginalsShare, policy::kExactMarginalsSeconds);
  SolvedMarginalsOptions pass;
  pass.bytes = task.limits().bytes / policy::kMarginalsMemoryDivisor;
  pass.should_stop = task.run.time_box(policy::kExactMarginalsShare, policy::kExactMarginalsSeconds);
  Knowledge& known = found.draft.known;
  const double width = known.bounds().width();  // of the search's sums, which made log Z exact
  std::optional<Marginals> solved = solved_marginals(*found.searched, *found.upper, pass);
  const SummedModel* const summed = found.draft.summed.get();
  if (solved && summed == nullptr) {
    known.offer_solved(*std::move(solved), width, "the search");
  } else if (auto eliminated = quick_exact_marginals(task, seconds)) {
    known.offer_solved(*std::move(eliminated), width, "elimination");
  } else if (solved) {
    known.offer_solved(summed->marginals(*solved), width, "the search");
  }
}

// How many samples are drawn, and until when. Until the end of the phase; without a time limit, or once the bounds are
// settled, as many as were asked for, and more if they are cheap. A solved model needs them only for marginals, and a
// user who asked for a gap wants the answer once it is reached.
void limit_samples(BoundedImportanceOptions& sampling, Observer& observer, std::int64_t most, StopReason stop,
                   const Task& task, const PhaseClock& clock) {
  const std::int64_t asked = *task.options().importance;
  const Run& run = task.run;
  const bool has_tables = task.graph.has_only_tables();
  const bool is_done = stop == StopReason::kExact || stop == StopReason::kRounding || stop == StopReason::kGap;
  // Calls of programs are limited by the budget.
  const bool is_paid = !has_tables && task.limits().budget != Limits::kUnlimited;
  const bool fills_time = run.has_time_limit() && !is_done && !is_paid;
  sampling.max_samples = std::min(most, fills_time ? INT64_MAX : asked);
  if (!fills_time && has_tables) sampling.max_samples = std::max(asked, policy::kFewestSamples);
  observer.should_stop = clock.should_stop();
  sampling.should_drop = run.until();
  if (fills_time) {
    sampling.expected_samples = [clock, start = run.seconds()](std::int64_t num_drawn) {
      const double passed = std::max(clock.run.seconds() - start, 1e-6);
      return static_cast<double>(num_drawn) * std::max(1.0, (clock.end() - start) / passed);
    };
  }
  if (run.has_time_limit()) return;
  // More than were asked for only as long as they are cheap. A solved model needs none of them: a sample of a variable
  // with a million states takes a hundredth of a second.
  const bool is_solved = stop == StopReason::kExact;
  const double seconds = is_solved ? policy::kSolvedSamplesSeconds : policy::kExtraSamplesSeconds;
  observer.should_stop = [num_drawn = std::int64_t{0}, least = is_solved ? 1 : asked, run,
                          is_late = run.time_box(1.0, seconds)]() mutable {
    return run.is_overdue() || (++num_drawn >= least && is_late());
  };
}

BoundedImportance draw_weighted(const Findings& found, std::int64_t most, const Task& task, const PhaseClock& clock) {
  BoundedImportanceOptions sampling;
  sampling.confidence = found.annealed ? found.annealed->confidence_left : *task.options().confidence;
  sampling.threads = num_threads(task.limits());
  const SummedModel* const summed = found.draft.summed.get();
  if (const CutsetSum* const cutset = found.cutset.get()) {
    sampling.known = KnownPart{certified(cutset->log_mass(), found), cutset->estimate(), [=](std::span<const int> x) {
                                 return cutset->holds(summed ? summed->left(x) : Assignment(x.begin(), x.end()));
                               }};
  }
  Observer observer;
  limit_samples(sampling, observer, most, found.searched->report.stop, task, clock);
  Random random(task.seed(), "importance");
  return bounded_importance(task.graph, bounded_sampler(*found.upper, summed), sampling, random, observer);
}

// Whether samples would tell more than is known, and how many the limits of calls pay for.
std::int64_t num_weighted(const Findings& found, const Task& task, const SampleCalls& calls) {
  const Draft& draft = found.draft;
  if (!found.upper || draft.error || draft.known.has_marginals()) return 0;
  if (draft.known.is_exact() && !wants_more(task.question())) return 0;
  const std::int64_t most = calls.affordable(INT64_MAX);
  return *task.options().importance == 0 ? 0 : most;
}

// Whether time is left for what follows a search that is not solved.
bool has_time_for_more(const Findings& found, const Task& task) {
  return found.is_unsolved && task.run.has_time_limit() && !task.run.is_interrupted();
}

}  // namespace

// Looks for a possible configuration, where that is not trivial, so that there is a lower bound from the start.
void find_first(Findings& found, const Task& task, const PhaseClock& clock) {
  const Run& run = task.run;
  found.draft.summed = sum_out(task.graph, task.plan);
  run.tell({.log_z = first_bounds(task.graph), .estimate = kNegInf});
  if (task.graph.has_only_tables()) {
    const ShouldStop is_over = run.time_box(clock.share, policy::kFindSeconds);
    FindResult looked = find_configuration(task.graph, {.seed = task.seed(), .should_stop = is_over});
    if (looked.outcome == FindOutcome::kFound) found.first = std::move(looked.configuration);
  }
  found.draft.known.bound(first_bounds(task.graph, found.first));
  run.tell({.log_z = found.draft.known.bounds(), .estimate = kNegInf});
}

// A lower bound that is found before elimination is given up is kept.
void eliminate_log_z(Findings& found, const Task& task, const PhaseClock& clock) {
  const Run& run = task.run;
  Knowledge& known = found.draft.known;
  found.rule = std::make_shared<LateRule>(LateRule{policy::kLogZLook, clock.share});
  Observer watch = unless_late(run, "elimination", found.rule);
  watch.progress = [&found, tell = watch.progress](Progress now) {
    found.draft.known.bound(certified(now.log_z, found));
    now.log_z = found.draft.known.bounds();
    tell(now);
  };
  const EliminationOptions options = elimination_options(task.plan.request, run);
  const double began = run.seconds();
  found.elimination = unless_given_up([&] {
                        return std::make_shared<const Elimination>(searched_graph(found, task), *task.plan.elimination,
                                                                   task.limits(), options, watch);
                      }).value_or(nullptr);
  if (!found.elimination) {
    run.remark(fmt::format("elimination, given up after {:.1f} seconds, would take too long", run.seconds()));
    return;
  }
  found.log_z_seconds = run.seconds() - began;
  const EliminationPlan& plan = found.elimination->plan();
  found.draft.method = fmt::format("log Z by variable elimination, width {}{}", plan.width, slices_text(plan));
  known.bound(certified(found.elimination->bounds(), found));
  known.estimate(found.elimination->log_z(), Trust::kExact);
  found.has_log_z = true;
  run.tell({.log_z = known.bounds(), .estimate = found.elimination->log_z()});
}

// Where they can follow in the time, by the pace of log Z; they are given up by their own. What is asked beside log Z
// then has as long again as all this took.
void add_sliced_marginals(Findings& found, const Task& task, const PhaseClock& clock) {
  const Run& run = task.run;
  Knowledge& known = found.draft.known;
  const auto elimination = std::move(found.elimination);  // its memory is given back before the search
  if (!elimination || !known.is_exact()) return;
  const double seconds = run.has_time_limit() ? clock.seconds_left() : policy::kDefaultEliminationSeconds;
  const bool fits = policy::kMarginalsTime * found.log_z_seconds <= seconds;
  if (fits && task.question().marginals && known.log_z() != kNegInf) {
    // Its first buckets are the slowest, since they find no memory yet: its pace says nothing before half of its time.
    const double middle = run.has_time_limit() ? (run.seconds() + 0.5 * clock.seconds_left()) / clock.end() : 0.0;
    *found.rule = {middle * clock.share, clock.share};
    const auto marginals = unless_too_large([&] { return unless_given_up([&] { return elimination->marginals(); }); });
    if (!marginals) run.remark("no exact marginals: not enough memory (--memory)");
    if (marginals && *marginals) {
      offer_eliminated(known, found.draft.summed.get(), **marginals, elimination->bounds().width(), task);
    }
  }
  run.set_time_limit(run.seconds() + run.extra_seconds());
}

void search_between_bounds(Findings& found, const Task& task, const PhaseClock& clock) {
  if (!found.space) return;
  const Run& run = task.run;
  Draft& draft = found.draft;
  BoundsWatch watch(found, task, clock);
  found.searched = std::make_shared<const SearchResult>(search_with(found, task, clock, watch));
  const SearchReport& report = found.searched->report;
  // The last sweep of the search may have tightened the bounds; sampling does not change them.
  run.tell({.phase = "samples",
            .spent = report.spent,
            .log_z = certified(report.log_z, found),
            .estimate = std::clamp(watch.last_estimate(), report.log_z.lower, report.log_z.upper)});
  if (!draft.method.empty()) draft.method += "; then ";
  draft.method +=
      fmt::format("search with bounds, space {}, order {} (width {}), leaves: {}{}", word_for(*task.options().space),
                  word_for(*task.options().order), found.space->space.width(), found.space->leaves.text,
                  summed_out_text(draft.summed.get()));
  if (report.num_threads > 1) draft.method += fmt::format(", {} threads", report.num_threads);
  draft.stop = watch.is_early() ? StopReason::kTime : report.stop;
  draft.error = report.error;
  draft.spent = report.spent;
  draft.known.bound(certified(report.log_z, found));
  const bool is_solved = certified(report.log_z, found).is_exact();
  draft.known.estimate(is_solved ? report.estimate : kNegInf, is_solved ? Trust::kCertified : Trust::kGuess);
  const bool is_cut_off = watch.is_early() || report.stop == StopReason::kTime || report.stop == StopReason::kMemory;
  found.is_unsolved = is_cut_off && task.graph.has_only_tables();
  read_store(found, task);
}

// For a better lower bound, and so that samples have less to estimate.
void sum_joint_states(Findings& found, const Task& task, const PhaseClock& clock) {
  if (!found.upper || !has_time_for_more(found, task)) return;
  Draft& draft = found.draft;
  if (draft.known.bounds().width() < policy::kCutsetLeastGap) return;
  const auto tell = [&](Progress now) {
    now.log_z = draft.known.bounds() & LogBounds::at_least(certified(now.log_z, found).lower);
    task.run.tell(now);
  };
  std::vector<Assignment> configurations;
  const SummedModel* const summed = draft.summed.get();
  if (found.first) configurations.push_back(summed ? summed->left(found.first->x) : found.first->x);
  found.cutset = sum_cutset(
      {task, searched_graph(found, task), *found.upper, std::move(configurations), draft.known.bounds().lower, tell},
      clock);
  if (!found.cutset) return;
  draft.known.bound(LogBounds::at_least(certified(found.cutset->log_mass(), found).lower));
  draft.method += fmt::format("; {} of a cutset of {} summed exactly",
                              counted(static_cast<std::int64_t>(found.cutset->size()), "joint state"),
                              counted(std::ssize(found.cutset->cutset().variables), "variable"));
}

// Chains, where few of the weighted samples would count.
void anneal(Findings& found, const Task& task, const PhaseClock& clock) {
  const SampleCalls calls(task, found.draft);
  if (num_weighted(found, task, calls) == 0 || !has_time_for_more(found, task)) return;
  auto annealed = anneal_if_worth_it({task, searched_graph(found, task), *found.upper, log_slack(found)}, clock);
  if (annealed) found.annealed = std::make_shared<const AnnealedPhase>(*std::move(annealed));
}

// Samples of P_U: an estimate with its interval, and marginals.
void weigh_samples(Findings& found, const Task& task, const PhaseClock& clock) {
  Draft& draft = found.draft;
  Knowledge& known = draft.known;
  const bool has_tables = task.graph.has_only_tables();
  if (!found.upper || (known.is_exact() && !wants_more(task.question()))) return;
  // Samples of a model with programs cost calls, and a solved search knows more than they would tell.
  const bool draws_none = !has_tables || task.options().importance == 0;
  if (known.is_exact() && draws_none) add_solved_marginals(found, task);
  SampleCalls calls(task, draft);
  const std::int64_t most = num_weighted(found, task, calls);
  if (most == 0 || task.is_overdue()) return;  // a sample of a large model takes long
  BoundedImportance sampled = draw_weighted(found, most, task, clock);
  if (found.annealed) found.annealed->state(draft, draft.summed == nullptr);
  draft.set_sampled_marginals(sampled, "weighted");
  if (found.annealed) sampled = found.annealed->joined(sampled, *task.options().confidence);
  calls.charge({.calls = has_tables ? 0 : sampled.spent.calls});
  if (sampled.error) draft.error = sampled.error;
  sampled.log_z = known.bounds().clamp(sampled.log_z);
  if (!known.is_exact() && sampled.log_z != kNegInf) known.estimate(sampled.log_z, Trust::kSampled);
  if (!sampled.best.x.empty()) check_below_upper(sampled.best.log_density, known.bounds().upper);
  known.best.offer(sampled.best);
  draft.bounded_importance = std::move(sampled);
  if (known.is_exact() && has_tables) add_solved_marginals(found, task);
  if (known.has_marginals() || !draft.sampler_divergence) return;
  add_frequencies(draft, *draft.approximation, policy::kCertifiedMarginalSamples, task,
                  "from {} samples of P_L: all other samples were impossible");
}

}  // namespace treesample
