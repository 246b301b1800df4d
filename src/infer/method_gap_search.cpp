// The search with certified bounds, then its samplers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/annealing_phase.hpp"
#include "infer/counting.hpp"
#include "infer/cutset_phase.hpp"
#include "infer/leaves.hpp"
#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "infer/sample_calls.hpp"
#include "infer/samples.hpp"
#include "infer/words.hpp"
#include "thread_team.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/first_bounds.hpp"
#include "treesample/search/solved_marginals.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

class GapSearch {
 public:
  explicit GapSearch(const Task& task)
      : task_(task),
        run_(task.run),
        whole_(task.graph),
        summed_(sum_out(task.graph, task.plan)),
        graph_(summed_ ? summed_->graph() : task.graph) {}

  Draft run();

 private:
  void look_for_a_configuration();
  void take_news();
  void eliminate_first();
  void add_sliced_marginals(const Elimination& elimination);
  std::optional<BoundedSpace> set_up();
  Draft without_search();
  SearchResult search_with(const SearchSpace& space, const LeafValues& leaves);
  void report_progress(Progress now);
  bool hardly_moves(double upper, bool is_far);
  double log_slack() const { return summed_ ? summed_->log_slack() : 0.0; }
  LogBounds certified(const LogBounds& bounds) const { return bounds.widened(log_slack()); }  // for the whole model
  const LogBounds& bounds() const { return draft_.known.bounds(); }  // certified, of log Z so far
  void sum_joint_states(const SearchResult& result);
  void add_samplers(const SearchResult& result);
  void choose_sampler(const SearchResult& result);
  bool is_open(const SearchResult& result) const;
  BoundedImportance estimate(StopReason stop, std::int64_t most_samples, double confidence) const;
  void add_exact_marginals(const SearchResult& result, const SearchApproximation& upper);
  void add_stored_best(const SearchResult& result);

  const Task& task_;
  const Run& run_;
  const FactorGraph& whole_;
  const std::shared_ptr<const SummedModel> summed_;
  const FactorGraph& graph_;  // without barren variables
  std::optional<Configuration> first_;
  bool is_eliminated_ = false;  // log Z is known by elimination
  double last_estimate_ = kNegInf;
  std::shared_ptr<const SearchApproximation> upper_;  // null until it is needed, and where there is none
  std::shared_ptr<const CutsetSum> cutset_;           // may be null
  double search_start_ = 0.0;
  std::optional<double> first_upper_;  // the search's first upper bound
  bool is_late_ = false;               // its time is over
  bool ends_far_ = false;              // the bounds are far apart and hardly move any more
  Draft draft_;
};

// Looks for a possible configuration, where that is not trivial, so that there is a lower bound from the start.
void GapSearch::look_for_a_configuration() {
  run_.tell({.phase = "first bounds", .log_z = first_bounds(whole_), .estimate = kNegInf});
  if (whole_.has_only_tables()) {
    const ShouldStop is_over = run_.time_box(policy::kFindShare, policy::kFindSeconds);
    FindResult found = find_configuration(whole_, {.seed = task_.seed(), .should_stop = is_over});
    if (found.outcome == FindOutcome::kFound) first_ = std::move(found.configuration);
  }
  draft_.known.bound(first_bounds(whole_, first_));
  run_.tell({.phase = "first bounds", .log_z = bounds(), .estimate = kNegInf});
}

// What another method, such as counting, has certified meanwhile.
void GapSearch::take_news() {
  if (task_.known_beside) draft_.known.bound(task_.known_beside());
}

// Eliminates for log Z alone, where more does not fit into the time, and for marginals where they can follow. A lower
// bound that is found before elimination is given up is kept.
void GapSearch::eliminate_first() {
  if (!task_.plan.eliminates_first || draft_.known.is_exact()) return;  // counting may have been faster
  const auto rule = std::make_shared<LateRule>(LateRule{policy::kLogZLook, policy::kLogZEnd});
  Observer watch = unless_late(run_, "elimination", rule);
  watch.progress = [this, tell = watch.progress](Progress now) {
    draft_.known.bound(certified(now.log_z));
    now.log_z = bounds();
    tell(now);
  };
  const EliminationOptions options = elimination_options(task_.plan.request, run_);
  const auto eliminated =
      unless_given_up([&] { return Elimination(graph_, *task_.plan.elimination, task_.limits(), options, watch); });
  if (!eliminated) {
    run_.remark(fmt::format("elimination, given up after {:.1f} seconds, would take too long", run_.seconds()));
    return;
  }
  rule->end = policy::kSlicedMarginalsEnd;
  const EliminationPlan& plan = eliminated->plan();
  draft_.method = fmt::format("log Z by variable elimination, width {}{}", plan.width, slices_text(plan));
  draft_.known.bound(certified(eliminated->bounds()));
  draft_.known.estimate(eliminated->log_z(), Trust::kExact);
  is_eliminated_ = true;
  run_.tell({.phase = "elimination", .log_z = bounds(), .estimate = eliminated->log_z()});
  if (task_.question().marginals && eliminated->log_z() != kNegInf) add_sliced_marginals(*eliminated);
  if (draft_.known.is_exact()) run_.set_time_limit(run_.seconds() + run_.extra_seconds());
}

void GapSearch::add_sliced_marginals(const Elimination& elimination) {
  const double log_z_seconds = predicted_seconds(elimination.plan(), task_.limits(), false);
  const double seconds = run_.has_time_limit() ? policy::kSlicedMarginalsEnd * run_.time_limit() - run_.seconds()
                                               : policy::kDefaultEliminationSeconds;
  if (!draft_.known.is_exact() || (1.0 + policy::kMarginalsWork) * log_z_seconds > seconds) return;
  auto marginals = unless_too_large([&] { return unless_given_up([&] { return elimination.marginals(); }); });
  if (!marginals) run_.remark("no exact marginals: not enough memory (--memory)");
  if (!marginals || !*marginals) return;
  offer_eliminated(draft_.known, summed_.get(), **marginals, elimination.bounds().width(), task_);
}

void GapSearch::report_progress(Progress now) {
  last_estimate_ = now.estimate.value_or(kNegInf);
  const double gap = task_.limits().gap == 0.0 ? now.log_z.width() : 0.0;
  ends_far_ = run_.has_time_limit() && gap > policy::kOpenGap && hardly_moves(now.log_z.upper, gap > policy::kFarGap);
  const double passes = policy::kSearchPassSeconds * static_cast<double>(now.num_nodes);
  is_late_ = run_.seconds() + passes > run_.at(policy::kGapSearchEnd);
  now.phase = "search with bounds";
  now.log_z = certified(now.log_z);
  run_.tell(now);
}

// True when the upper bound hardly moves: late (earlier where it is far from the lower one), or where its pace promises
// little by then. A rising lower bound is no reason to go on, because sums over joint states give better ones.
bool GapSearch::hardly_moves(double upper, bool is_far) {
  if (!first_upper_) first_upper_ = upper;
  const double end = std::max(run_.at(is_far ? policy::kFarSearchEnd : policy::kGapSearchEnd),
                              search_start_ + policy::kLeastSearchShare * run_.time_limit());
  const double searched = run_.seconds() - search_start_, left = end - run_.seconds();
  if (left <= 0.0) return true;
  const bool is_known = searched > policy::kFarLookShare * run_.time_limit();
  return is_known && (*first_upper_ - upper) * left < policy::kFarFall * searched;
}

SearchResult GapSearch::search_with(const SearchSpace& space, const LeafValues& leaves) {
  Limits limits = task_.limits();
  limits.bytes /= policy::kSearchMemoryDivisor;
  if (!run_.has_time_limit()) limits.threads = 1;  // the same bits for any number of threads
  search_start_ = run_.seconds();
  limits.seconds = HUGE_VAL;
  if (!task_.known_beside) limits.seconds = std::max(0.0, run_.at(policy::kGapSearchEnd) - search_start_);
  const bool has_all = is_eliminated_ && (draft_.known.has_marginals() || !task_.question().marginals);
  if (has_all) {
    limits.seconds =
        std::min(limits.seconds, std::max(policy::kBestSearchSeconds, policy::kBestSearchShare * search_start_));
  }
  SearchOptions options{.select = task_.plan.select};
  options.c = *task_.options().c;
  options.epsilon = *task_.options().epsilon;
  options.answer_order = *task_.options().answer_order;
  options.seconds_per_node = policy::kSearchPassSeconds;
  options.observer_interval = policy::kTraversalsBetweenLooks;
  if (first_) options.first_configurations = {summed_ ? summed_->left(first_->x) : first_->x};
  const Observer observer{
      .progress = [&](const Progress& now) { report_progress(now); },
      .should_stop = [this, is_over = run_.search_end()] { return ends_far_ || is_late_ || is_over(); }};
  return search(graph_, space, leaves, limits, options, observer);
}

// Draws samples until the time limit; without one, or once the bounds are settled, as many as were asked for, and more
// if they are cheap. A solved model needs them only for marginals, and a user who asked for a gap wants the answer once
// it is reached.
BoundedImportance GapSearch::estimate(StopReason stop, std::int64_t most_samples, double confidence) const {
  const InferOptions& chosen = task_.options();
  BoundedImportanceOptions importance;
  importance.confidence = confidence;
  importance.threads = num_threads(task_.limits());
  if (cutset_) {
    importance.known = KnownPart{certified(cutset_->log_mass()), cutset_->estimate(), [this](std::span<const int> x) {
                                   return cutset_->holds(summed_ ? summed_->left(x) : Assignment(x.begin(), x.end()));
                                 }};
  }
  const bool is_done = stop == StopReason::kExact || stop == StopReason::kRounding || stop == StopReason::kGap;
  // Calls of programs are limited by the budget.
  const bool is_paid = !whole_.has_only_tables() && task_.limits().budget != Limits::kUnlimited;
  const bool fills_time = run_.has_time_limit() && !is_done && !is_paid;
  importance.max_samples = std::min(most_samples, fills_time ? INT64_MAX : *chosen.importance);
  if (!fills_time && whole_.has_only_tables()) {
    importance.max_samples = std::max(*chosen.importance, policy::kFewestSamples);
  }
  const double end = samples_end(task_);
  Observer observer{.should_stop = run_.until(end)};
  importance.should_drop = run_.until();
  if (fills_time) {
    importance.expected_samples = [run = run_, start = run_.seconds(), end](std::int64_t num_drawn) {
      const double passed = std::max(run.seconds() - start, 1e-6);
      return static_cast<double>(num_drawn) * std::max(1.0, (run.at(end) - start) / passed);
    };
  }
  if (!run_.has_time_limit()) {
    // More than were asked for only as long as they are cheap. A solved model needs none of them: a sample of a
    // variable with a million states takes a hundredth of a second.
    const bool is_solved = stop == StopReason::kExact;
    const double seconds = is_solved ? policy::kSolvedSamplesSeconds : policy::kExtraSamplesSeconds;
    observer.should_stop = [num_drawn = std::int64_t{0}, most = is_solved ? 1 : *chosen.importance, run = run_,
                            is_late = run_.time_box(1.0, seconds)]() mutable {
      return run.is_overdue() || (++num_drawn >= most && is_late());
    };
  }
  Random random(task_.seed(), "importance");
  return bounded_importance(whole_, bounded_sampler(*upper_, summed_.get()), importance, random, observer);
}

// Chooses the distribution that samples are drawn from; a certified one if it is asked for and possible.
void GapSearch::choose_sampler(const SearchResult& result) {
  const auto complete = [&](std::shared_ptr<const Approximation> sampler) -> std::shared_ptr<const Approximation> {
    if (!summed_) return sampler;
    return std::make_shared<CompletedApproximation>(summed_, std::move(sampler));
  };
  draft_.approximation = complete(upper_);
  const SampleSource source = *task_.options().sampler;
  if (source == SampleSource::kRejection) draft_.exact_sampler = upper_;
  if (source != SampleSource::kLower) return;
  const auto lower = std::make_shared<SearchApproximation>(result, SamplerKind::kLower, run_.until());
  if (lower->log_value() == kNegInf) return;
  draft_.approximation = complete(lower);
  const double slack = log_slack() + 2.0 * run_.log_error();
  const double divergence = certified(result.report.log_z).upper - lower->log_value() + slack;
  draft_.sampler_divergence = divergence > 0.0 ? std::nextafter(divergence, HUGE_VAL) : 0.0;
}

void GapSearch::add_stored_best(const SearchResult& result) {
  const std::optional<StoredBest> stored = best_configuration(result, run_.until());
  if (!stored) return;
  if (summed_) draft_.known.best.offer(*completed(stored, summed_.get(), whole_));
  if (!summed_) offer_stored_best(draft_, *stored, result, whole_);
}

// Of a solved search: from its store, otherwise by elimination where that is quick.
void GapSearch::add_exact_marginals(const SearchResult& result, const SearchApproximation& upper) {
  const double seconds = run_.box_seconds(policy::kExactMarginalsShare, policy::kExactMarginalsSeconds);
  SolvedMarginalsOptions pass;
  pass.bytes = task_.limits().bytes / policy::kMarginalsMemoryDivisor;
  pass.should_stop = run_.time_box(policy::kExactMarginalsShare, policy::kExactMarginalsSeconds);
  const double width = bounds().width();  // of the search's sums, which made log Z exact
  std::optional<Marginals> solved = solved_marginals(result, upper, pass);
  if (solved && !summed_) {
    draft_.known.offer_solved(*std::move(solved), width, "the search");
  } else if (auto eliminated = quick_exact_marginals(task_, seconds)) {
    draft_.known.offer_solved(*std::move(eliminated), width, "elimination");
  } else if (solved) {
    draft_.known.offer_solved(summed_->marginals(*solved), width, "the search");
  }
}

// Whether time is left for what follows a search that is not solved.
bool GapSearch::is_open(const SearchResult& result) const {
  const StopReason stop = result.report.stop;
  const bool is_unsolved = stop == StopReason::kTime || stop == StopReason::kMemory || ends_far_ || is_late_;
  return is_unsolved && run_.has_time_limit() && !run_.is_interrupted() && whole_.has_only_tables();
}

// Sums joint states of a cutset exactly where the search left a gap: for a better lower bound, and so that samples have
// less to estimate.
void GapSearch::sum_joint_states(const SearchResult& result) {
  if (!upper_ || !is_open(result) || bounds().width() < policy::kCutsetLeastGap) return;
  const auto tell = [this](Progress now) {
    now.log_z = bounds() & LogBounds::at_least(certified(now.log_z).lower);
    run_.tell(now);
  };
  std::vector<Assignment> configurations;
  if (first_) configurations.push_back(summed_ ? summed_->left(first_->x) : first_->x);
  cutset_ = sum_cutset({task_, graph_, *upper_, std::move(configurations), bounds().lower, tell});
  if (!cutset_) return;
  draft_.known.bound(LogBounds::at_least(certified(cutset_->log_mass()).lower));
  draft_.method += fmt::format("; {} of a cutset of {} summed exactly",
                               counted(static_cast<std::int64_t>(cutset_->size()), "joint state"),
                               counted(std::ssize(cutset_->cutset().variables), "variable"));
}

// Adds what is drawn from the search: samples, an estimate with its interval, marginals.
void GapSearch::add_samplers(const SearchResult& result) {
  if (!upper_ || (draft_.known.is_exact() && !wants_more(task_.question()))) return;
  choose_sampler(result);
  const bool has_tables = whole_.has_only_tables();
  // Samples of a model with programs cost calls, and a solved search knows more than they would tell.
  if (draft_.known.is_exact() && !has_tables) add_exact_marginals(result, *upper_);
  SampleCalls calls(task_, draft_);
  const std::int64_t most = calls.affordable(INT64_MAX);
  if (std::min(*task_.options().importance, most) == 0 || draft_.error || draft_.known.has_marginals()) return;
  task_.go_on();  // a sample of a large model takes long
  std::optional<AnnealedPhase> annealed;
  if (is_open(result) && !draft_.known.is_exact()) annealed = anneal_if_worth_it({task_, graph_, *upper_, log_slack()});
  const double confidence = annealed ? annealed->confidence_left : *task_.options().confidence;
  BoundedImportance sampled = estimate(result.report.stop, most, confidence);
  if (annealed) annealed->state(draft_, summed_ == nullptr);
  draft_.set_sampled_marginals(sampled, "weighted");
  if (annealed) sampled = annealed->joined(sampled, *task_.options().confidence);
  calls.charge({.calls = has_tables ? 0 : sampled.spent.calls});
  if (sampled.error) draft_.error = sampled.error;
  sampled.log_z = bounds().clamp(sampled.log_z);
  if (!draft_.known.is_exact() && sampled.log_z != kNegInf) draft_.known.estimate(sampled.log_z, Trust::kSampled);
  if (!sampled.best.x.empty()) check_below_upper(sampled.best.log_density, bounds().upper);
  draft_.known.best.offer(sampled.best);
  draft_.bounded_importance = std::move(sampled);
  if (draft_.known.is_exact() && has_tables) add_exact_marginals(result, *upper_);
  if (draft_.known.has_marginals() || !draft_.sampler_divergence) return;
  add_frequencies(draft_, *draft_.approximation, policy::kCertifiedMarginalSamples, task_,
                  "from {} samples of P_L: all other samples were impossible");
}

// Nothing where there was no time for it, or no memory and log Z is known all the same.
std::optional<BoundedSpace> GapSearch::set_up() {
  const auto make = [&] { return make_bounded_space(task_, graph_); };
  if (!is_eliminated_) return unless_given_up(make);
  const auto made = unless_too_large([&] { return unless_given_up(make); });
  if (!made) run_.remark("no search for more than log Z: not enough memory (--memory)");
  return made.value_or(std::nullopt);
}

// The answer where there was no time even for the leaf values: everything found before.
Draft GapSearch::without_search() {
  Draft first = first_answer(task_, bounds());
  if (const auto& best = first.known.best.best()) draft_.known.best.offer(*best);
  if (first_) draft_.known.best.offer(*first_);
  draft_.known.bound(first.known.bounds());
  draft_.stop = first.stop;
  draft_.method = is_eliminated_ ? draft_.method + "; there was no time or memory for more" : first.method;
  return std::move(draft_);
}

Draft GapSearch::run() {
  look_for_a_configuration();
  take_news();
  eliminate_first();
  if (draft_.known.is_exact() && !wants_more(task_.question())) return std::move(draft_);
  run_.begin_phases();
  const InferOptions& chosen = task_.options();
  const auto made = set_up();
  if (!made) return without_search();
  const auto& [space, leaves] = *made;
  const SearchResult result = search_with(space, leaves.values);
  const SearchReport& report = result.report;
  // The last sweep of the search may have tightened the bounds; sampling does not change them.
  run_.tell({.phase = "samples",
             .spent = report.spent,
             .log_z = certified(report.log_z),
             .estimate = std::clamp(last_estimate_, report.log_z.lower, report.log_z.upper)});
  draft_.summed = summed_;
  if (!draft_.method.empty()) draft_.method += "; then ";
  draft_.method +=
      fmt::format("treesample with bounds, space {}, order {} (width {}), leaves: {}{}", word_for(*chosen.space),
                  word_for(*chosen.order), space.width(), leaves.text, summed_out_text(summed_.get()));
  if (report.num_threads > 1) draft_.method += fmt::format(", {} threads", report.num_threads);
  draft_.stop = ends_far_ || is_late_ ? StopReason::kTime : report.stop;
  draft_.error = report.error;
  draft_.spent = report.spent;
  draft_.known.bound(certified(report.log_z));
  const bool is_solved = certified(report.log_z).is_exact();
  draft_.known.estimate(is_solved ? report.estimate : kNegInf, is_solved ? Trust::kCertified : Trust::kGuess);
  unless_given_up([&] {
    upper_ = SearchApproximation::upper(result, run_.until());
    take_news();
    sum_joint_states(result);
    return true;
  });
  unless_given_up([&] {
    add_stored_best(result);
    return true;
  });
  unless_given_up([&] {
    add_samplers(result);
    return true;
  });
  if (first_) draft_.known.best.offer(*first_);
  return std::move(draft_);
}

}  // namespace

Draft run_gap_search(const Task& task) {
  return task.plan.counts_first ? run_beside_counting(task) : GapSearch(task).run();
}

}  // namespace treesample
