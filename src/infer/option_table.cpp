#include "infer/option_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "infer/noise_option.hpp"
#include "infer/option_field.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/io/program_set.hpp"
#include "treesample/value/telescoped_value.hpp"

namespace treesample {
namespace {

// Titles under which help shows the options.
constexpr const char *kLimits = "Limits", *kHow = "Method", *kSearchGroup = "Searches (tree, search)",
                     *kBaselines = "Baselines (smc, gibbs, bp, ais)", *kPrograms = "Programs as factors (.json models)";

constexpr double kMostCount = 9.3e18;  // largest whole number
constexpr const char* kNoSamples = "no samples are drawn (--samples)";

bool has_samples(const InferRequest& request, const FactorGraph&) { return request.question.samples > 0; }
bool has_bp_samples(const InferRequest& request, const FactorGraph& graph) {
  return request.options.method != Method::kBp || has_samples(request, graph);
}
bool has_random_order(const InferRequest& request, const FactorGraph&) {
  return request.options.method == Method::kExact || request.options.order == OrderKind::kMinFill ||
         request.options.order == OrderKind::kMinWidth;
}
bool ends_at_gap(const InferRequest& request, const FactorGraph& graph) {
  return request.options.method == Method::kExact || has_upper_bound(request.options, graph);
}
bool has_rejection(const InferRequest& request, const FactorGraph& graph) {
  return request.options.sampler == SampleSource::kRejection && has_samples(request, graph);
}
constexpr const char* kNoNetwork = "there is no network (--leaf net:FILE)";
bool has_leaf(const InferRequest& request, const FactorGraph&) {
  return request.options.leaf.value_or(LeafChoice{}).kind != LeafKind::kUniform;
}
bool has_network(const InferRequest& request, const FactorGraph&) {
  return request.options.leaf.value_or(LeafChoice{}).kind == LeafKind::kNetwork;
}
bool has_telescope(const InferRequest& request, const FactorGraph& graph) {
  return has_network(request, graph) && request.options.network_values != NetworkValues::kAbsolute;
}
bool can_rebuild(const InferRequest&, const FactorGraph& graph) { return graph.has_only_tables(); }
bool has_importance(const InferRequest& request, const FactorGraph&) {
  return request.options.importance > 0 || !is_a_search(*request.options.method);
}
bool has_several_under_way(const InferRequest& request, const FactorGraph& graph) {
  const EvaluationQueue* queue = graph.evaluation_queue();
  return request.options.workers > 1 || (queue != nullptr && queue->max_under_way() > 1);
}

// A word, or the name of a file with an order, which is then the option order-file.
OptionRow order_row() {
  OptionRow row = option<&InferOptions::order>(
      "order", kSearchGroup, kSearches + way(Method::kSis) + way(Method::kSmc),
      "Order of the variables (tree, search, sis, smc); the name of a file is short for --order-file",
      {.initial = "min-fill"});
  row.set = [](InferRequest& request, const OptionRow& own, std::string_view text) {
    std::error_code ignored;
    const bool is_word =
        std::ranges::any_of(words_of(OrderKind{}), [&](const auto& known) { return text == known.word; });
    if (is_word || !std::filesystem::exists(text, ignored)) {
      Field<&InferRequest::options, &InferOptions::order>::set(request, own, text);
    } else {
      request.options.order_file = text;
    }
  };
  return row;
}

OptionRow noise_row() {
  OptionRow row = option<&InferOptions::noise>(
      "noise", kPrograms, way(Method::kLearned),
      "Whether the same configuration has another value every time: look (two of the first hundred are evaluated "
      "again, "
      "by other methods the best one); no: nothing is evaluated twice; yes, or the standard deviation of one value "
      "(learned). With noise nothing is certified",
      {.initial = "look", .meta = "look|no|yes|SD"});
  row.set = [](InferRequest& request, const OptionRow&, std::string_view text) {
    parse_noise(text);
    request.options.noise = std::string(text);
  };
  return row;
}

// As a word, 0 is no limit.
OptionRow time_row() {
  OptionRow row = limit<&Limits::seconds>(
      "time", kLimits, kEveryWay,
      "Seconds (or 10m, 1.5h, 2d) until the answer, from the start of the program; 0 is no limit. By "
      "default 10 for models of tables, unless --budget, a method or a search is "
      "given",
      {.high = HUGE_VAL, .is_common = true});
  row.set = [](InferRequest& request, const OptionRow& known, std::string_view text) {
    const std::optional<double> seconds = parse_seconds(text);
    if (!seconds || *seconds < 0.0)
      refuse_option(known, text, "numbers from 0 up, also as 500ms, 90s, 10m, 1.5h or 2d");
    request.limits.seconds = *seconds == 0.0 ? kNoTimeLimit : *seconds;
  };
  row.text = [](const InferRequest& request) {
    if (request.limits.seconds == kNoTimeLimit) return std::string("0");
    return limit<&Limits::seconds>("time", kLimits, kEveryWay, "").text(request);
  };
  return row;
}

// A table with one row per option.
std::vector<OptionRow> make_rows() {  // NOLINT(readability-function-size)
  constexpr Ways kQUct = way(SelectRule::kQUct) + way(Method::kTree), kGap = way(SelectRule::kGap),
                 kMass = way(SelectRule::kMass);
  constexpr Ways kSmc = way(Method::kSmc), kGibbs = way(Method::kGibbs), kBp = way(Method::kBp),
                 kAis = way(Method::kAis);
  constexpr Ways kExact = way(Method::kExact), kParticles = way(Method::kSis) + kSmc;
  constexpr Ways kMonotone = way(Method::kMonotone), kAsking = way(Method::kLearned) + kMonotone;
  constexpr Ways kOneByOne = way(Method::kMetropolis) + way(Method::kFrequencies);
  constexpr Ways kPaid = kSearches + kParticles + kGibbs + kBp + kAis + kAsking + kOneByOne;
  return {
      time_row(),
      limit<&Limits::gap>("gap", kLimits, kGap + kMass + kExact + kMonotone,
                          "Stop when the certified bounds of log Z are this close (gap, mass, monotone)",
                          {.high = HUGE_VAL,
                           .is_common = true,
                           .matters = ends_at_gap,
                           .why_not = "there is no upper bound, because a factor declares no maximum (log_max)"}),
      limit<&Limits::calls>("calls", kLimits, kSearches + kParticles + kGibbs + kAsking + kOneByOne,
                            "Evaluations by programs that may be paid for: short for --budget N --budget-unit call",
                            {.initial = "1000", .high = kMostCount, .is_common = true}),
      limit<&Limits::new_calls>("new-calls", kLimits, kSearches + kParticles + kGibbs + kAsking + kOneByOne,
                                "Of all calls, at most this many that are not known from the journal",
                                {.low = 1, .high = kMostCount, .is_common = true}),
      limit<&Limits::budget>(
          "budget", kLimits, kPaid, "Evaluations that the method may spend; no limit by default when --time is given",
          {.initial = "100000", .high = kMostCount, .matters = has_bp_samples, .why_not = kNoSamples}),
      option<&InferOptions::budget_unit>(
          "budget-unit", kLimits, kPaid,
          "What --budget counts. reward: sums of the factors that a variable completes, as in the paper; factor: each "
          "factor; cost: seconds of programs, as declared in the model, else as measured (tables are free); call: "
          "evaluations by programs, the default where the model has some (except for --select q-uct)",
          {.initial = "reward", .matters = has_bp_samples, .why_not = kNoSamples}),
      limit<&Limits::bytes>(
          "memory", kLimits,
          kSearches + kParticles + kExact + way(Method::kCount) + kAis + kAsking + way(Method::kMetropolis),
          "Memory that the method may use, such as 512M", {.is_common = true}),
      limit<&Limits::threads>(
          "threads", kLimits, kEveryWay,
          "Threads, 0: one per core. With 2 or more and --time the search with bounds uses them too, or counting runs "
          "beside it; all else has the same bits for any number",
          {.high = 4096, .is_common = true}),
      question<&Question::aim>("question",
                               "all: log Z, marginals and the best configuration; logz: only log Z, and the run ends "
                               "when it is known; best: only the best configuration, and programs are called only for "
                               "it",
                               {.is_common = true}),
      question<&Question::samples>("samples", "Samples to draw and show",
                                   {.high = 1e9, .is_common = true, .not_with = kNotWithCases | kNotWithLogZ}),
      question<&Question::query>(
          "query",
          "Variables whose probabilities are wanted, by name; several with commas: their joint distribution; may be "
          "repeated. Default: the marginals of all",
          {.is_common = true, .is_repeated = true, .not_with = kNotWithBest | kNotWithLogZ}),
      question<&Question::map>(
          "map",
          "Marginal MAP: the most probable states of these variables, by name with commas (the program also takes a "
          "FILE.query of the UAI competitions), all others summed out",
          {.is_common = true, .not_with = kNotWithCircuits | kNotWithLogZ}),
      question<&Question::k_best>(
          "k-best", "How many of the most probable configurations",
          {.low = 1, .high = 1e6, .is_common = true, .not_with = kNotWithCases | kNotWithCircuits | kNotWithLogZ}),
      option<&InferOptions::seed>("seed", kHow, kEveryWay, "Seed of everything random",
                                  {.high = 1.9e19, .is_common = true}),
      option<&InferOptions::method>(
          "method", kHow, kEveryWay,
          "How to infer. tree: the paper's tree search, q-uct in the space tree; search: with bounds (--select gap), "
          "by mass "
          "or with q-uct in graph or andor; auto: exact elimination where it is cheap and no option of a search is "
          "given, else tree or search",
          {.initial = "search", .is_common = true}),
      option<&InferOptions::space>("space", kSearchGroup, kSearches,
                                   "tree: the paper; graph: equal sub-problems merged; andor: components too",
                                   {.initial = "andor"}),
      order_row(),
      option<&InferOptions::order_file>(
          "order-file", kHow, kExact + way(SelectRule::kGap),
          "File with an order of elimination, first removed first (treesample order writes one); --order FILE is short "
          "for it",
          {.meta = "FILE"}),
      option<&InferOptions::slices>(
          "slices", kHow, kExact,
          "Of the slices of elimination only A to B - 1, or as K/N the K-th of N parts, into the "
          "file of --resume; treesample merge adds such files up",
          {.meta = "A..B"}),
      option<&InferOptions::leaf>(
          "leaf", kSearchGroup, kSearches + kParticles,
          "Leaf values, the guesses or bounds for what is not evaluated yet; calibrated learns from the rewards seen "
          "so far (with --select mass, "
          "default for programs); net:FILE is a trained network, program:FILE a value function of yours (docs/methods/"
          "networks.md); --method auto uses mini-buckets where elimination does not fit",
          {.initial = "uniform", .meta = leaf_choice_words(), .old_name = "prior"}),
      option<&InferOptions::network_values>(
          "network-values", kSearchGroup, way(Method::kTree),
          "What a tree search with a network (--leaf net:FILE) takes from it; telescoped: values that agree "
          "between levels, with the root's from samples; absolute: its own, as in the paper",
          {.initial = "telescoped", .matters = has_network, .why_not = kNoNetwork}),
      option<&InferOptions::root_samples>(
          "root-samples", kSearchGroup, way(Method::kTree),
          "Samples of the network, out of the budget (at most 0.8 of it), that correct its values and give the root's",
          {.initial = std::to_string(RootSamplesOptions{}.count),
           .high = 1e6,
           .matters = has_telescope,
           .why_not = "the network's values are not telescoped"}),
      option<&InferOptions::when_full>(
          "when-full", kSearchGroup, way(Method::kTree),
          "When the memory of a tree search is full; rebuild: the tree is compiled into a value function and built "
          "again under it, as often as that is better (docs/methods/networks.md); stop: it ends",
          {.initial = "rebuild", .matters = can_rebuild, .why_not = "factors are functions"}),
      option<&InferOptions::restarts>("restarts", kSearchGroup, kSearches + kParticles + kExact,
                                      "Randomised orders to try; 0 chooses by the model's size",
                                      {.initial = "0",
                                       .high = 1e6,
                                       .matters = has_random_order,
                                       .why_not = "only min-fill and min-width orders are random"}),
      option<&InferOptions::resume>(
          "resume", kHow, kExact, "File that keeps finished slices of elimination, from which the same command resumes",
          {.meta = "FILE", .not_with = kNotWithCases}),
      option<&InferOptions::c>("c", kSearchGroup, kQUct + kMass, "Weight of exploration (q-uct, mass)",
                               {.initial = "1", .high = HUGE_VAL}),
      option<&InferOptions::epsilon>("epsilon", kSearchGroup, kQUct, "Least scale of the exploration bonus (q-uct)",
                                     {.initial = "0.1", .high = HUGE_VAL}),
      option<&InferOptions::bonus>(
          "bonus", kSearchGroup, way(Method::kTree),
          "What scales the exploration bonus: the leaf value, as in the paper, or log-states, (N - n) log K whatever "
          "the "
          "leaf value (--method tree with a --leaf)",
          {.initial = "q-phi", .matters = has_leaf, .why_not = "the leaf values are uniform (--leaf)"}),
      option<&InferOptions::ties>("ties", kSearchGroup, kQUct, "Which of equally good actions to take (q-uct)",
                                  {.initial = "lowest"}),
      option<&InferOptions::select>(
          "select", kSearchGroup, kSearches,
          "q-uct: the paper's rule; gap: the most unresolved mass between certified bounds, all edges of a node at "
          "once; mass: the most unresolved mass by estimates, for factors that can only be evaluated (default for "
          "programs)",
          {.initial = "q-uct"}),
      option<&InferOptions::confidence>("confidence", kSearchGroup, kGap + kMonotone + kAis,
                                        "Of the interval from samples (gap, monotone, ais)",
                                        {.initial = "0.95",
                                         .high = 1.0,
                                         .matters = has_importance,
                                         .why_not = "there is no interval without weighted samples (--importance 0)"}),
      option<&InferOptions::sampler>(
          "sampler", kSearchGroup, kGap,
          "What --samples come from: certified divergence, bounded weights, or exact by rejection (gap)",
          {.initial = "lower"}),
      option<&InferOptions::max_tries>("max-tries", kSearchGroup, kGap, "Draws that --sampler rejection may make",
                                       {.initial = "10000000",
                                        .low = 1,
                                        .high = kMostCount,
                                        .matters = has_rejection,
                                        .why_not = "nothing is drawn by rejection (--sampler rejection --samples N)"}),
      option<&InferOptions::importance>(
          "importance", kSearchGroup, kSearches,
          "Samples for the importance-sampling estimate of log Z when a search is not exact",
          {.initial = "1000", .high = 1e9}),
      option<&InferOptions::error_share>("error-share", kPrograms, kAsking,
                                         "Share of the calls for samples whose true values tell the error of log Z "
                                         "(learned; monotone: half, none with "
                                         "--gap)",
                                         {.initial = "0.1", .high = 0.9}),
      noise_row(),
      option<&InferOptions::trace>("trace", kSearchGroup, kSearches + kMonotone,
                                   "Write seconds, evaluations, bounds and estimate as CSV (searches; only gap has "
                                   "both bounds)",
                                   {.initial = "no", .not_with = kNotWithCases}),
      option<&InferOptions::compile>("compile", kHow, way(Method::kCount),
                                     "Write the model, without its evidence, as a circuit, a MODEL that answers for "
                                     "any evidence and weights in milliseconds (count)",
                                     {.initial = "no", .not_with = kNotWithCases}),
      option<&InferOptions::ess_threshold>(
          "ess-threshold", kBaselines, kSmc,
          "Resample when the effective sample size falls below this fraction of the particles (smc)",
          {.initial = "0.5", .high = 1.0}),
      option<&InferOptions::resampling>("resampling", kBaselines, kSmc, "Scheme (smc)", {.initial = "systematic"}),
      option<&InferOptions::sweeps>("sweeps", kBaselines, kGibbs, "Sweeps per sample; the thinning of a chain (gibbs)",
                                    {.initial = "10", .low = 1, .high = 1e6}),
      option<&InferOptions::gibbs_mode>("gibbs-mode", kBaselines, kGibbs,
                                        "A new start for every sample, as in the paper, or one long chain (gibbs)",
                                        {.initial = "restarts"}),
      option<&InferOptions::burn_in>("burn-in", kBaselines, kGibbs, "Sweeps before the first sample of a chain (gibbs)",
                                     {.initial = "0", .high = 1e9}),
      option<&InferOptions::messages>(
          "messages", kBaselines, kBp, "Message steps before each variable is sampled (bp)",
          {.initial = "5", .low = 1, .high = 1e6, .matters = has_samples, .why_not = kNoSamples}),
      option<&InferOptions::damping>("damping", kBaselines, kBp, "Weight of the old message (bp)",
                                     {.initial = "0", .high = 0.999}),
      option<&InferOptions::temperatures>(
          "temperatures", kBaselines, kAis,
          "Temperatures that each annealed chain passes; 0: as trial chains suggest (ais)",
          {.initial = "0", .high = 1 << 20}),
      option<&InferOptions::simplify>("simplify", kHow, kEveryWay,
                                      "Leave out states that are impossible and factors that are constant",
                                      {.initial = "yes"}),
      option<&InferOptions::workers>("oracle-workers", kPrograms, kGap + kMass + kAsking,
                                     "Programs that compute factors at the same time (.json models)",
                                     {.initial = "1", .low = 1, .high = ProgramSet::kMaxWorkers}),
      option<&InferOptions::answer_order>(
          "oracle-order", kPrograms, kGap + kMass + kAsking,
          "With several workers or batches: use values as they arrive, or in the order in which they were asked for, "
          "which gives "
          "the same result every time",
          {.initial = "arrival",
           .matters = has_several_under_way,
           .why_not = "there is one evaluation at a time (--oracle-workers, max_batch)"}),
  };
}

}  // namespace

std::span<const OptionRow> option_rows() {
  static const std::vector<OptionRow> rows = [] {
    std::vector<OptionRow> all = make_rows();
    for (OptionRow& more : derivative_questions()) all.push_back(std::move(more));
    return all;
  }();
  return rows;
}

const OptionRow& option_row(std::string_view name) {
  for (const OptionRow& known : option_rows()) {
    if (name == known.name) return known;
  }
  throw OptionError(std::string(name), "is no option of infer");
}

}  // namespace treesample
