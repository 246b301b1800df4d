#include "treesample/exact/many_cases.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "thread_team.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/kept_elimination.hpp"

namespace treesample {
namespace {

// Cases of a kind that has fewer than this go together with other rare kinds, unless that takes too many entries.
constexpr std::size_t kFewCases = 128;
constexpr double kMostForRare = 2e4;
constexpr double kOrderWork = 1e5, kOrderWorkPerCase = 1e4;
constexpr std::size_t kCasesPerPiece = 64;  // that one thread takes at a time, where they are computed one by one

// A case, with its observations by variable.
struct SortedCase {
  std::vector<Observation> states;
  std::vector<const SoftObservation*> soft;
};

bool is_before(const Observation& a, const Observation& b) { return a.variable < b.variable; }
bool is_before(const SoftObservation* a, const SoftObservation* b) { return a->variable < b->variable; }
template <class Seen>
void sort_by_variable(std::vector<Seen>& seen) {
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return is_before(a, b); });
}

// A bucket of cases that are computed by the same elimination.
struct Kind {
  std::vector<int> observed, weighted;
  std::vector<std::size_t> cases;  // sorted by their states
  std::vector<std::size_t> first;  // of equal cases, the place in `cases` of the first
  std::optional<KeptElimination> kept;
  std::vector<int> asked_at;  // by distribution that is asked for: its place among those of `kept`, or -1
};

}  // namespace

class ManyCases::Work {
 public:
  Work(const FactorGraph& graph, const ManyCasesOptions& options)
      : graph_(graph), options_(options), parts_(graph), team_(options.threads) {
    for (int m = 0; m < graph.num_factors(); ++m) {
      check_argument(graph.factor(m).is_table(), "ManyCases", "a factor is a function, allowed are tables");
    }
    for (const std::vector<int>& asked : options.asked) {
      std::size_t size = 1;
      for (const int v : asked) {
        check_range("ManyCases", "variable", v, 0, graph.num_variables() - 1);
        size *= static_cast<std::size_t>(graph.num_states(v));
      }
      offsets_.push_back(num_probabilities_);
      num_probabilities_ += size;
    }
  }

  [[nodiscard]] std::size_t num_probabilities() const { return num_probabilities_; }

  void solve(std::span<const Observations> cases, std::span<CaseSums> sums, std::span<double> probabilities,
             const ShouldStop& should_stop) {
    sums_ = sums;
    probabilities_ = probabilities;
    sort(cases);
    std::vector<Kind> kinds = kinds_of_cases(should_stop);
    run(kinds, should_stop);
    for (const Kind& kind : kinds) share_results(kind);
  }

 private:
  void sort(std::span<const Observations> cases);
  std::vector<Kind> kinds_of_cases(const ShouldStop& should_stop);
  [[nodiscard]] Kind rare_kind(const std::vector<std::size_t>& cases) const;
  void prepare(Kind& kind);
  void run(std::vector<Kind>& kinds, const ShouldStop& should_stop);
  void solve_lanes(const Kind& kind, KeptElimination& kept, std::span<const std::size_t> rows);
  void set(KeptElimination& kept, const Kind& kind, int lane, std::size_t index) const;
  void take(const KeptElimination& kept, const Kind& kind, int lane, std::size_t index);
  void share_results(const Kind& kind) const;
  [[nodiscard]] bool is_less(std::size_t a, std::size_t b) const;

  const FactorGraph& graph_;
  ManyCasesOptions options_;
  ModelParts parts_;
  ThreadTeam team_;
  std::vector<std::size_t> offsets_;  // of the distributions that are asked for
  std::size_t num_probabilities_ = 0;
  std::vector<SortedCase> cases_;
  std::span<CaseSums> sums_;
  std::span<double> probabilities_;
};

void ManyCases::Work::sort(std::span<const Observations> cases) {
  cases_.assign(cases.size(), {});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases_[i].states = cases[i].states;
    sort_by_variable(cases_[i].states);
    for (const SoftObservation& seen : cases[i].soft) cases_[i].soft.push_back(&seen);
    sort_by_variable(cases_[i].soft);
  }
}

// The order in which cases of one kind are computed.
bool ManyCases::Work::is_less(std::size_t a, std::size_t b) const {
  const SortedCase &one = cases_[a], &other = cases_[b];
  const auto compare = [](const auto& x, const auto& y, auto less) {
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), less);
  };
  const auto by_state = [](const Observation& x, const Observation& y) {
    return std::pair(x.variable, x.state) < std::pair(y.variable, y.state);
  };
  const auto by_weights = [](const SoftObservation* x, const SoftObservation* y) {
    return std::pair(x->variable, x->weights) < std::pair(y->variable, y->weights);
  };
  if (compare(one.states, other.states, by_state)) return true;
  if (compare(other.states, one.states, by_state)) return false;
  return compare(one.soft, other.soft, by_weights);
}

std::vector<Kind> ManyCases::Work::kinds_of_cases(const ShouldStop& should_stop) {
  std::unordered_map<std::string, std::size_t> kind_of;
  std::vector<Kind> all;
  std::string key;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    key.clear();
    const auto add = [&](int number) { key.append(reinterpret_cast<const char*>(&number), sizeof number); };
    for (const Observation& seen : cases_[i].states) add(seen.variable);
    add(-1);
    for (const SoftObservation* seen : cases_[i].soft) add(seen->variable);
    const auto [at, is_new] = kind_of.try_emplace(key, all.size());
    if (is_new) {
      Kind& kind = all.emplace_back();
      for (const Observation& seen : cases_[i].states) kind.observed.push_back(seen.variable);
      for (const SoftObservation* seen : cases_[i].soft) kind.weighted.push_back(seen->variable);
    }
    all[at->second].cases.push_back(i);
  }
  std::vector<Kind> kinds;
  std::vector<std::size_t> rare;
  for (const Kind& kind : all) {
    if (kind.cases.size() < kFewCases) rare.insert(rare.end(), kind.cases.begin(), kind.cases.end());
  }
  Kind together = rare_kind(rare);
  prepare(together);
  const bool is_together = together.kept && together.kept->num_entries() <= kMostForRare;
  for (Kind& kind : all) {
    if (is_together && kind.cases.size() < kFewCases) continue;
    if (should_stop && should_stop()) throw Error(ErrorCode::kInterrupted, "ManyCases: asked to end");
    prepare(kind);
    kinds.push_back(std::move(kind));
  }
  if (is_together && !rare.empty()) kinds.push_back(std::move(together));
  for (Kind& kind : kinds) {
    std::sort(kind.cases.begin(), kind.cases.end(), [&](std::size_t a, std::size_t b) { return is_less(a, b); });
    for (std::size_t r = 0; r < kind.cases.size(); ++r) {
      if (r == 0 || is_less(kind.cases[r - 1], kind.cases[r])) kind.first.push_back(r);
    }
  }
  return kinds;
}

// What all of these cases observe is cut out, and what only some observe has weights.
Kind ManyCases::Work::rare_kind(const std::vector<std::size_t>& cases) const {
  std::vector<std::size_t> num_observed(static_cast<std::size_t>(graph_.num_variables()), 0);
  std::vector<char> is_seen(num_observed.size(), 0);
  for (const std::size_t i : cases) {
    for (const Observation& seen : cases_[i].states) {
      ++num_observed[seen.variable];
      is_seen[seen.variable] = 1;
    }
    for (const SoftObservation* seen : cases_[i].soft) is_seen[seen->variable] = 1;
  }
  Kind kind;
  kind.cases = cases;
  for (int v = 0; v < graph_.num_variables(); ++v) {
    if (is_seen[v] != 0) (num_observed[v] == cases.size() ? kind.observed : kind.weighted).push_back(v);
  }
  return kind;
}

void ManyCases::Work::prepare(Kind& kind) {
  KeptOptions kept{.observed = kind.observed, .weighted = kind.weighted, .lanes = 0, .seed = options_.seed};
  const auto is_observed = [&](int v) { return std::binary_search(kind.observed.begin(), kind.observed.end(), v); };
  std::vector<int> matters = kind.observed;
  matters.insert(matters.end(), kind.weighted.begin(), kind.weighted.end());
  for (const std::vector<int>& asked : options_.asked) {
    matters.insert(matters.end(), asked.begin(), asked.end());
    std::vector<int> open = asked;
    std::erase_if(open, is_observed);
    kind.asked_at.push_back(open.empty() ? -1 : static_cast<int>(kept.asked.size()));
    if (!open.empty()) kept.asked.push_back(std::move(open));
  }
  kept.part = parts_.with(matters);
  kept.order_work = kOrderWork + kOrderWorkPerCase * static_cast<double>(kind.cases.size());
  kept.most_entries = options_.most_entries;
  kept.most_bytes = static_cast<double>(options_.most_bytes) / (options_.threads + 1);
  try {
    kind.kept.emplace(graph_, kept);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResource) throw;
  }
}

// Pieces of one kind follow each other, so that a thread seldom changes its elimination.
void ManyCases::Work::run(std::vector<Kind>& kinds, const ShouldStop& should_stop) {
  struct Piece {
    std::size_t kind, begin, end;  // places in Kind::first
  };
  std::vector<Piece> pieces;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (!kinds[k].kept) continue;
    const auto lanes = static_cast<std::size_t>(kinds[k].kept->num_lanes());
    const std::size_t size = lanes > 1 ? lanes : kCasesPerPiece, count = kinds[k].first.size();
    for (std::size_t r = 0; r < count; r += size) pieces.push_back({k, r, std::min(r + size, count)});
  }
  struct Own {
    std::size_t kind = 0;
    std::optional<KeptElimination> kept;
  };
  std::vector<Own> owns(static_cast<std::size_t>(team_.size()));
  const auto work = [&](std::size_t begin, std::size_t end, int worker) {
    for (std::size_t p = begin; p < end; ++p) {
      const Kind& kind = kinds[pieces[p].kind];
      Own& own = owns[static_cast<std::size_t>(worker)];
      if (!own.kept || own.kind != pieces[p].kind) {
        own.kept.emplace(*kind.kept);
        own.kind = pieces[p].kind;
      }
      std::vector<std::size_t> rows;
      for (std::size_t r = pieces[p].begin; r < pieces[p].end; ++r) rows.push_back(kind.cases[kind.first[r]]);
      const auto lanes = static_cast<std::size_t>(own.kept->num_lanes());
      for (std::size_t r = 0; r < rows.size(); r += lanes) {
        solve_lanes(kind, *own.kept, std::span(rows).subspan(r, std::min(lanes, rows.size() - r)));
      }
    }
  };
  team_.run(pieces.size(), 1, work, should_stop);
}

void ManyCases::Work::solve_lanes(const Kind& kind, KeptElimination& kept, std::span<const std::size_t> rows) {
  for (std::size_t r = 0; r < rows.size(); ++r) set(kept, kind, static_cast<int>(r), rows[r]);
  kept.run_up();
  if (std::any_of(kind.asked_at.begin(), kind.asked_at.end(), [](int at) { return at >= 0; })) kept.run_down();
  for (std::size_t r = 0; r < rows.size(); ++r) take(kept, kind, static_cast<int>(r), rows[r]);
}

void ManyCases::Work::set(KeptElimination& kept, const Kind& kind, int lane, std::size_t index) const {
  const SortedCase& now = cases_[index];
  auto state = now.states.begin();
  auto soft = now.soft.begin();
  const auto known = [&](int v) {
    while (state != now.states.end() && state->variable < v) ++state;
    return state != now.states.end() && state->variable == v ? state->state : -1;
  };
  for (const int v : kind.observed) kept.set_state(lane, v, known(v));
  state = now.states.begin();
  for (const int v : kind.weighted) {
    while (soft != now.soft.end() && (*soft)->variable < v) ++soft;
    if (soft != now.soft.end() && (*soft)->variable == v) {
      kept.set_weights(lane, v, (*soft)->weights);
    } else {
      kept.set_only_state(lane, v, known(v));
    }
  }
}

void ManyCases::Work::take(const KeptElimination& kept, const Kind& kind, int lane, std::size_t index) {
  CaseSums& sums = sums_[index];
  sums.log_z = kept.log_z(lane);
  sums.bounds = kept.bounds(lane);
  sums.is_known = !kept.is_lossy(lane) && sums.bounds.lower > -std::numeric_limits<double>::infinity();
  if (!sums.is_known) return;
  std::vector<double> open;
  for (std::size_t q = 0; q < options_.asked.size(); ++q) {
    const std::vector<int>& asked = options_.asked[q];
    const std::size_t end = q + 1 < offsets_.size() ? offsets_[q + 1] : num_probabilities_;
    const std::span<double> joint = probabilities_.subspan(index * num_probabilities_ + offsets_[q], end - offsets_[q]);
    // The states of observed variables are certain.
    std::size_t num_open = 1;
    std::vector<int> fixed;
    for (const int v : asked) {
      const bool is_observed = std::binary_search(kind.observed.begin(), kind.observed.end(), v);
      const auto seen = std::find_if(cases_[index].states.begin(), cases_[index].states.end(),
                                     [&](const Observation& one) { return one.variable == v; });
      fixed.push_back(is_observed ? seen->state : -1);
      if (!is_observed) num_open *= static_cast<std::size_t>(graph_.num_states(v));
    }
    if (kind.asked_at[q] >= 0 && num_open == joint.size()) {
      kept.asked(kind.asked_at[q], lane, joint);
    } else {
      open.assign(num_open, 1.0);
      if (kind.asked_at[q] >= 0) kept.asked(kind.asked_at[q], lane, open);
      std::fill(joint.begin(), joint.end(), 0.0);
      for (std::size_t e = 0; e < num_open; ++e) {
        std::size_t at = 0, rest = e, stride = 1;
        for (std::size_t i = asked.size(); i-- > 0;) {
          const auto num_states = static_cast<std::size_t>(graph_.num_states(asked[i]));
          const std::size_t state = fixed[i] >= 0 ? static_cast<std::size_t>(fixed[i]) : rest % num_states;
          if (fixed[i] < 0) rest /= num_states;
          at += stride * state;
          stride *= num_states;
        }
        joint[at] = open[e];
      }
    }
    // Takes off the rounding of the pass.
    const double total = std::accumulate(joint.begin(), joint.end(), 0.0);
    for (double& p : joint) p /= total;
  }
}

void ManyCases::Work::share_results(const Kind& kind) const {
  if (!kind.kept) return;
  for (std::size_t f = 0; f < kind.first.size(); ++f) {
    const std::size_t end = f + 1 < kind.first.size() ? kind.first[f + 1] : kind.cases.size();
    const std::size_t from = kind.cases[kind.first[f]];
    for (std::size_t r = kind.first[f] + 1; r < end; ++r) {
      const std::size_t to = kind.cases[r];
      sums_[to] = sums_[from];
      std::copy_n(probabilities_.data() + from * num_probabilities_, num_probabilities_,
                  probabilities_.data() + to * num_probabilities_);
    }
  }
}

ManyCases::ManyCases(const FactorGraph& graph, const ManyCasesOptions& options)
    : work_(std::make_unique<Work>(graph, options)) {}
ManyCases::~ManyCases() = default;

std::size_t ManyCases::num_probabilities() const { return work_->num_probabilities(); }

void ManyCases::solve(std::span<const Observations> cases, std::span<CaseSums> sums, std::span<double> probabilities,
                      const ShouldStop& should_stop) {
  check_argument(sums.size() == cases.size() && probabilities.size() == cases.size() * num_probabilities(),
                 "ManyCases::solve", "there is no room for the results");
  work_->solve(cases, sums, probabilities, should_stop);
}

}  // namespace treesample
