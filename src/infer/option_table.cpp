#include "infer/option_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "infer/words.hpp"
#include "treesample/error.hpp"
#include "treesample/model/names.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Value = T;
};

constexpr std::size_t kShownText = 100;

[[noreturn]] void refuse(const OptionRow& row, std::string_view text, const std::string& allowed) {
  throw OptionError(row.name, fmt::format("is '{}', allowed are {}", shortened(text, kShownText), allowed));
}

std::string range_text(const OptionRow& row, bool is_whole) {
  if (is_whole) {
    return fmt::format("whole numbers from {} to {}", static_cast<std::int64_t>(row.low),
                       row.high >= 9e18 ? INT64_MAX : static_cast<std::int64_t>(row.high));
  }
  if (row.high == HUGE_VAL) return fmt::format("numbers from {} up", row.low);
  return fmt::format("numbers from {} to {}", row.low, row.high);
}

template <typename Enum>
std::string all_words() {
  std::vector<std::string> words;
  for (const Word<Enum>& known : words_of(Enum{})) words.emplace_back(known.word);
  return fmt::format("{}", fmt::join(words, "|"));
}

using NameList = std::vector<std::string>;
using NameLists = std::vector<NameList>;

NameList parse_names(const OptionRow& row, std::string_view text) {
  try {
    return split_names(text);
  } catch (const Error& error) {
    throw OptionError(row.name, error.what());
  }
}
void add_names(NameLists& lists, const OptionRow& row, std::string_view text) {
  lists.push_back(parse_names(row, text));
}
void add_names(NameList& list, const OptionRow& row, std::string_view text) { list = parse_names(row, text); }

std::string names_text(const NameList& names) { return joined_names(names); }

std::string names_text(const NameLists& lists) {
  std::string text;
  for (const std::vector<std::string>& names : lists) text += (text.empty() ? "" : "; ") + joined_names(names);
  return text;
}

// One field of one part of a request. A field that is not std::optional is open while it has its initial value.
template <auto kPart, auto kMember>
struct Field {
  using Stored = std::remove_cvref_t<decltype((std::declval<InferRequest&>().*kPart).*kMember)>;
  static constexpr bool kIsOptional = IsOptional<Stored>::value;
  static constexpr bool kIsSize = std::is_same_v<decltype(kMember), std::size_t Limits::*>;
  using Value = typename std::conditional_t<kIsOptional, IsOptional<Stored>, std::type_identity<Stored>>;

  static Stored& at(InferRequest& request) { return (request.*kPart).*kMember; }
  static const Stored& at(const InferRequest& request) { return (request.*kPart).*kMember; }
  static auto value(const InferRequest& request) {
    if constexpr (kIsOptional) {
      return at(request);
    } else {
      static const Stored initial = at(InferRequest{});
      return at(request) == initial ? std::optional<Stored>() : std::optional<Stored>(at(request));
    }
  }
  using Type = typename decltype(value(std::declval<const InferRequest&>()))::value_type;
  static constexpr bool kIsNames = std::is_same_v<Type, NameLists> || std::is_same_v<Type, NameList>;

  static void set(InferRequest& request, const OptionRow& row, std::string_view text) {
    if constexpr (std::is_enum_v<Type> || std::is_same_v<Type, bool>) {
      for (const Word<Type>& known : words_of(Type{})) {
        if (text != known.word) continue;
        at(request) = known.value;
        return;
      }
      refuse(row, text, (std::is_same_v<Type, Method> ? "auto|" : "") + all_words<Type>());
    } else if constexpr (std::is_same_v<Type, std::string>) {
      at(request) = std::string(text);
    } else if constexpr (kIsNames) {
      add_names(at(request), row, text);
    } else if constexpr (kIsSize) {
      const std::optional<std::uint64_t> bytes = parse_size(text);
      if (!bytes) refuse(row, text, "a number of bytes with an optional K, M, G or T, such as 512M");
      at(request) = *bytes;
    } else if constexpr (std::is_integral_v<Type>) {
      const std::optional<std::int64_t> number = parse_integer(text);
      if (!number || static_cast<double>(*number) < row.low || static_cast<double>(*number) > row.high)
        refuse(row, text, range_text(row, true));
      at(request) = static_cast<Type>(*number);
    } else {
      const std::optional<double> number = parse_real(text);
      if (!number || *number < row.low || *number > row.high) refuse(row, text, range_text(row, false));
      at(request) = *number;
    }
  }
  static bool is_given(const InferRequest& request) { return value(request).has_value(); }
  static std::string text(const InferRequest& request) {
    if (kIsOptional && !is_given(request)) return "";
    const Type stored = *std::optional<Type>(at(request));
    if constexpr (std::is_enum_v<Type> || std::is_same_v<Type, bool>) {
      return word_for(stored);
    } else if constexpr (kIsNames) {
      return names_text(stored);
    } else {
      return fmt::format("{}", stored);
    }
  }
  static std::optional<double> number(const InferRequest& request) {
    if constexpr (std::is_arithmetic_v<Type> && !std::is_same_v<Type, bool>) {
      const std::optional<Type> stored = value(request);
      return stored ? std::optional<double>(static_cast<double>(*stored)) : std::nullopt;
    } else {
      return {};
    }
  }
  static void copy(const InferRequest& from, InferRequest& to) { at(to) = at(from); }
  static std::string meta() {
    if constexpr (std::is_enum_v<Type> || std::is_same_v<Type, bool>) return all_words<Type>();
    if constexpr (kIsSize) return "SIZE";
    if constexpr (kIsNames) return "NAMES";
    if constexpr (std::is_same_v<Type, std::string>) return "WORD";
    return std::is_integral_v<Type> ? "N" : "X";
  }
};

struct Extra {
  double low = 0.0, high = 0.0;
  bool is_common = false;
  bool (*matters)(const InferRequest&, const FactorGraph&) = nullptr;
  const char* why_not = "";
  bool is_repeated = false;
};

template <auto kPart, auto kMember>
OptionRow row(const char* name, Ways ways, const char* help, Extra extra = {}) {
  using F = Field<kPart, kMember>;
  return {name,    ways,      help,       F::set,          F::is_given,   F::text,       F::number,        F::copy,
          F::meta, extra.low, extra.high, extra.is_common, extra.matters, extra.why_not, extra.is_repeated};
}
template <auto kMember>
OptionRow option(const char* name, Ways ways, const char* help, Extra extra = {}) {
  return row<&InferRequest::options, kMember>(name, ways, help, extra);
}
template <auto kMember>
OptionRow limit(const char* name, Ways ways, const char* help, Extra extra = {}) {
  return row<&InferRequest::limits, kMember>(name, ways, help, extra);
}

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
constexpr const char* kNoNetworkTree = "there is no network (--prior net:FILE) in a tree search (--space tree)";
bool has_prior_tree(const InferRequest& request, const FactorGraph&) {
  return request.options.space == SpaceKind::kTree && request.options.prior.value_or("uniform") != "uniform";
}
bool has_network_tree(const InferRequest& request, const FactorGraph&) {
  return request.options.space == SpaceKind::kTree && request.options.prior.value_or("").starts_with("net:");
}
bool has_telescope(const InferRequest& request, const FactorGraph& graph) {
  return has_network_tree(request, graph) && request.options.network_values != NetworkValues::kAbsolute;
}
bool can_rebuild(const InferRequest& request, const FactorGraph& graph) {
  return request.options.space == SpaceKind::kTree && graph.has_only_tables();
}
bool has_importance(const InferRequest& request, const FactorGraph&) {
  return request.options.importance > 0 || request.options.method == Method::kMonotone;
}
bool has_workers(const InferRequest& request, const FactorGraph&) { return request.options.workers > 1; }

// A table with one row per option.
std::vector<OptionRow> make_rows() {  // NOLINT(readability-function-size)
  constexpr Ways kQUct = way(SelectRule::kQUct), kGap = way(SelectRule::kGap), kMass = way(SelectRule::kMass);
  constexpr Ways kSmc = way(Method::kSmc), kGibbs = way(Method::kGibbs), kBp = way(Method::kBp);
  constexpr Ways kExact = way(Method::kExact), kParticles = way(Method::kSis) + kSmc;
  constexpr Ways kMonotone = way(Method::kMonotone), kAsking = way(Method::kLearned) + kMonotone;
  constexpr Ways kOneByOne = way(Method::kMetropolis) + way(Method::kFrequencies);
  constexpr Ways kPaid = kRules + kParticles + kGibbs + kBp + kAsking + kOneByOne;
  return {
      limit<&Limits::seconds>("time", kEveryWay,
                              "Seconds until the answer, from the start of the program; 0 is no limit",
                              {.high = HUGE_VAL, .is_common = true}),
      limit<&Limits::gap>("gap", kGap + kMass + kExact + kMonotone,
                          "Stop when the certified bounds of log Z are this close (gap, mass, monotone)",
                          {.high = HUGE_VAL,
                           .is_common = true,
                           .matters = ends_at_gap,
                           .why_not = "there is no upper bound, because a factor declares no maximum (log_max)"}),
      limit<&Limits::calls>("calls", kRules + kParticles + kGibbs + kAsking + kOneByOne,
                            "Evaluations by programs that may be paid for: short for --budget N --budget-unit call",
                            {.high = kMostCount, .is_common = true}),
      limit<&Limits::new_calls>("new-calls", kRules + kParticles + kAsking + kOneByOne,
                                "Of all calls, at most this many that are not known from the journal",
                                {.low = 1, .high = kMostCount, .is_common = true}),
      limit<&Limits::budget>("budget", kPaid,
                             "Evaluations that the method may spend; no limit by default when --time is given",
                             {.high = kMostCount, .matters = has_bp_samples, .why_not = kNoSamples}),
      option<&InferOptions::budget_unit>(
          "budget-unit", kPaid,
          "What --budget counts. reward: sums of the factors that a variable completes, as in the paper; factor: each "
          "factor; cost: seconds of programs, as declared in the model, else as measured (tables are free); call: "
          "evaluations by programs, the default where the model has some (except for --select q-uct)",
          {.matters = has_bp_samples, .why_not = kNoSamples}),
      limit<&Limits::bytes>("memory",
                            kRules + kParticles + kExact + way(Method::kCount) + kAsking + way(Method::kMetropolis),
                            "Memory that the method may use, such as 512M", {.is_common = true}),
      limit<&Limits::threads>(
          "threads", kEveryWay,
          "Threads, 0: one per core. With 2 or more and --time the search with bounds uses them too, or counting runs "
          "beside it; all else has the same bits for any number",
          {.high = 4096, .is_common = true}),
      row<&InferRequest::question, &Question::aim>("question", kEveryWay,
                                                   "all: log Z, marginals and the best configuration; best: only that, "
                                                   "and programs are called only for it",
                                                   {.is_common = true}),
      row<&InferRequest::question, &Question::samples>("samples", kEveryWay, "Samples to draw and show",
                                                       {.high = 1e9, .is_common = true}),
      row<&InferRequest::question, &Question::query>(
          "query", kEveryWay,
          "Variables whose probabilities are wanted, by name; several with commas: their joint distribution; may be "
          "repeated. Default: the marginals of all",
          {.is_common = true, .is_repeated = true}),
      row<&InferRequest::question, &Question::map>(
          "map", kEveryWay,
          "Marginal MAP: the most probable states of these variables, by name with commas, all others summed out",
          {.is_common = true}),
      row<&InferRequest::question, &Question::sensitivity>("sensitivity", kEveryWay,
                                                           "Which numbers of the model P(NAME=STATE | evidence) "
                                                           "depends on most, by exact derivatives; 'evidence' asks for "
                                                           "those of log P(evidence)"),
      row<&InferRequest::question, &Question::value_for>(
          "value-for", kEveryWay, "How much observing each other variable would tell about this one, in nats"),
      row<&InferRequest::question, &Question::k_best>("k-best", kEveryWay,
                                                      "How many of the most probable configurations",
                                                      {.low = 1, .high = 1e6, .is_common = true}),
      option<&InferOptions::seed>("seed", kEveryWay, "Seed of everything random", {.high = 1.9e19, .is_common = true}),
      option<&InferOptions::method>(
          "method", kEveryWay,
          "How to infer; auto is exact elimination where it is cheap and no option of the search is given, else "
          "treesample",
          {.is_common = true}),
      option<&InferOptions::space>("space", kRules,
                                   "tree: the paper; graph: equal sub-problems merged; andor: components too"),
      option<&InferOptions::order>("order", kRules + kParticles, "Order of the variables (treesample, sis, smc)"),
      option<&InferOptions::prior>(
          "prior", kRules + kParticles,
          "Values before anything is evaluated; calibrated learns from the rewards seen so far (with --select mass, "
          "default for programs); net:FILE is a trained network, program:FILE a value function of yours (docs/methods/"
          "networks.md); auto uses mini-buckets where elimination does not fit"),
      option<&InferOptions::network_values>(
          "network-values", kQUct,
          "What a search with a network (--prior net:FILE, --space tree) takes from it; telescoped: values that agree "
          "between levels, with the root's from samples; absolute: its own, as in the paper",
          {.matters = has_network_tree, .why_not = kNoNetworkTree}),
      option<&InferOptions::root_samples>(
          "root-samples", kQUct,
          "Samples of the network, out of the budget (at most 0.8 of it), that correct its values and give the root's",
          {.high = 1e6, .matters = has_telescope, .why_not = "the network's values are not telescoped"}),
      option<&InferOptions::when_full>(
          "when-full", kQUct,
          "When the memory of a tree search is full; rebuild: the tree is compiled into a value function and built "
          "again under it, as often as that is better (docs/methods/networks.md); stop: it ends",
          {.matters = can_rebuild, .why_not = "there is no tree search (--space tree) of a model of tables alone"}),
      option<&InferOptions::restarts>(
          "restarts", kRules + kParticles + kExact, "Randomised orders to try; 0 chooses by the model's size",
          {.high = 1e6, .matters = has_random_order, .why_not = "only min-fill and min-width orders are random"}),
      option<&InferOptions::resume>(
          "resume", kExact, "File that keeps finished slices of elimination, from which the same command resumes"),
      option<&InferOptions::c>("c", kQUct + kMass, "Weight of exploration (q-uct, mass)", {.high = HUGE_VAL}),
      option<&InferOptions::epsilon>("epsilon", kQUct, "Least scale of the exploration bonus (q-uct)",
                                     {.high = HUGE_VAL}),
      option<&InferOptions::bonus>(
          "bonus", kQUct,
          "What scales the exploration bonus: the leaf value, as in the paper, or log-states, (N - n) log K whatever "
          "the "
          "leaf value (--space tree with a --prior)",
          {.matters = has_prior_tree, .why_not = "there is no --prior in a tree search (--space tree)"}),
      option<&InferOptions::ties>("ties", kQUct, "Which of equally good actions to take (q-uct)"),
      option<&InferOptions::select>(
          "select", kRules,
          "q-uct: the paper's rule; gap: the most unresolved mass between certified bounds, all edges of a node at "
          "once; mass: the most unresolved mass by estimates, for factors that can only be evaluated (default for "
          "programs)"),
      option<&InferOptions::confidence>("confidence", kGap + kMonotone,
                                        "Of the interval from samples with bounded weights (gap, monotone)",
                                        {.high = 1.0,
                                         .matters = has_importance,
                                         .why_not = "there is no interval without weighted samples (--importance 0)"}),
      option<&InferOptions::sampler>(
          "sampler", kGap,
          "What --samples come from: certified divergence, bounded weights, or exact by rejection (gap)"),
      option<&InferOptions::max_tries>("max-tries", kGap, "Draws that --sampler rejection may make",
                                       {.low = 1,
                                        .high = kMostCount,
                                        .matters = has_rejection,
                                        .why_not = "nothing is drawn by rejection (--sampler rejection --samples N)"}),
      option<&InferOptions::importance>(
          "importance", kRules, "Samples for the importance-sampling estimate of log Z when a search is not exact",
          {.high = 1e9}),
      option<&InferOptions::error_share>("error-share", kAsking,
                                         "Share of the calls for samples whose true values tell the error of log Z "
                                         "(learned; monotone: half, none with "
                                         "--gap)",
                                         {.high = 0.9}),
      option<&InferOptions::trace>("trace", kRules + kMonotone,
                                   "Write seconds, evaluations, bounds and estimate as CSV (treesample; only gap has "
                                   "both bounds)"),
      option<&InferOptions::compile>("compile", way(Method::kCount),
                                     "Write the model, without its evidence, as a circuit, a MODEL that answers for "
                                     "any evidence and weights in milliseconds (count)"),
      option<&InferOptions::ess_threshold>(
          "ess-threshold", kSmc,
          "Resample when the effective sample size falls below this fraction of the particles (smc)", {.high = 1.0}),
      option<&InferOptions::resampling>("resampling", kSmc, "Scheme (smc)"),
      option<&InferOptions::sweeps>("sweeps", kGibbs, "Sweeps per sample; the thinning of a chain (gibbs)",
                                    {.low = 1, .high = 1e6}),
      option<&InferOptions::gibbs_mode>("gibbs-mode", kGibbs,
                                        "A new start for every sample, as in the paper, or one long chain (gibbs)"),
      option<&InferOptions::burn_in>("burn-in", kGibbs, "Sweeps before the first sample of a chain (gibbs)",
                                     {.high = 1e9}),
      option<&InferOptions::messages>("messages", kBp, "Message steps before each variable is sampled (bp)",
                                      {.low = 1, .high = 1e6, .matters = has_samples, .why_not = kNoSamples}),
      option<&InferOptions::damping>("damping", kBp, "Weight of the old message (bp)", {.high = 0.999}),
      option<&InferOptions::simplify>("simplify", kEveryWay,
                                      "Leave out states that are impossible and factors that are constant"),
      option<&InferOptions::workers>("oracle-workers", kGap + kMass + kAsking,
                                     "Programs that compute factors at the same time (.json models)",
                                     {.low = 1, .high = OracleSet::kMaxWorkers}),
      option<&InferOptions::answer_order>(
          "oracle-order", kGap + kMass + kAsking,
          "With several workers: use values as they arrive, or in the order in which they were asked for, which gives "
          "the same result every time",
          {.matters = has_workers, .why_not = "there is one program at a time (--oracle-workers)"}),
  };
}

}  // namespace

std::span<const OptionRow> option_rows() {
  static const std::vector<OptionRow> rows = make_rows();
  return rows;
}

const OptionRow& option_row(std::string_view name) {
  for (const OptionRow& known : option_rows()) {
    if (name == known.name) return known;
  }
  throw OptionError(std::string(name), "is no option of infer");
}

void InferRequest::validate() const {
  for (const OptionRow& known : option_rows()) {
    const std::optional<double> number = known.number(*this);
    // Sizes have no range, and NaN is outside of every range.
    if (!number || known.high == 0.0 || (*number >= known.low && *number <= known.high)) continue;
    throw OptionError(known.name, fmt::format("is {}, allowed are {}", *number, range_text(known, false)));
  }
}

}  // namespace treesample
