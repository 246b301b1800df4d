#include "optimize/cost_search.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "optimize/proof_board.hpp"
#include "optimize/proof_diver.hpp"
#include "thread_team.hpp"
#include "treesample/error.hpp"

namespace treesample {

struct CostSearch::State {
  State(const FactorGraph& graph, const std::vector<Configuration>& known, const Options& options)
      : board(graph, known, options), team(std::max(1, options.threads)) {
    divers.push_back(std::make_unique<ProofDiver>(board));
  }

  void begin(const ShouldStop& should_stop);
  void dive(int worker, std::int64_t num_steps, const ShouldStop& should_stop);
  template <typename Number>
  [[nodiscard]] std::int64_t sum(Number number) const {
    std::int64_t sum = 0;
    for (const auto& diver : divers) sum += (diver.get()->*number)();
    return sum;
  }

  ProofBoard board;
  ThreadTeam team;
  std::vector<std::unique_ptr<ProofDiver>> divers;  // by thread
  bool has_begun = false, is_done = false;
};

CostSearch::CostSearch(const FactorGraph& graph, const Configuration& known, const Options& options)
    : CostSearch(graph, std::vector<Configuration>{known}, options) {}

CostSearch::CostSearch(const FactorGraph& graph, const std::vector<Configuration>& known, const Options& options) {
  check_argument(options.num_best >= 1 && std::ssize(known) >= options.num_best, "CostSearch",
                 "as many configurations as are wanted must be known");
  state_ = std::make_unique<State>(graph, known, options);
}

CostSearch::~CostSearch() = default;

void CostSearch::State::begin(const ShouldStop& should_stop) {
  has_begun = true;
  StopCheck stop(should_stop);
  is_done = !divers.front()->begin(stop);
  if (is_done) return;
  board.open_root(divers.front()->bottom());
  for (int i = 1; i < team.size(); ++i) divers.push_back(std::make_unique<ProofDiver>(*divers.front()));
}

void CostSearch::State::dive(int worker, std::int64_t num_steps, const ShouldStop& should_stop) {
  ProofDiver& diver = *divers[worker];
  StopCheck stop(should_stop);
  const std::int64_t end = diver.num_steps() + num_steps;
  while (diver.num_steps() < end) {
    const auto node = board.take(should_stop);
    if (!node) return;
    diver.dive(*node, stop);
  }
}

void CostSearch::offer(const Configuration& better) {
  if (!better.x.empty() && better.log_density > state_->board.best().back().log_density) state_->board.offer(better.x);
}

void CostSearch::run(std::int64_t num_steps, const ShouldStop& should_stop) {
  State& s = *state_;
  if (!s.has_begun) s.begin(should_stop);
  if (s.is_done) return;
  // The calling thread asks, and the others follow.
  std::atomic<bool> is_stopped = false;
  const ShouldStop ask = [&] {
    if (!is_stopped && should_stop && should_stop()) is_stopped = true;
    return is_stopped.load();
  };
  const ShouldStop follow = [&] { return is_stopped.load(); };
  s.team.run(s.divers.size(), 1, [&](std::size_t first, std::size_t last, int worker) {
    for (std::size_t i = first; i < last; ++i) s.dive(static_cast<int>(i), num_steps, worker == 0 ? ask : follow);
  });
  s.is_done = s.board.is_over();
}

const Configuration& CostSearch::best() const { return state_->board.best().front(); }
const std::vector<Configuration>& CostSearch::all_best() const { return state_->board.best(); }
bool CostSearch::is_done() const { return state_->is_done; }
bool CostSearch::is_by_steps() const { return state_->board.is_by_steps(); }
std::int64_t CostSearch::num_contradictions() const { return state_->sum(&ProofDiver::num_contradictions); }
std::int64_t CostSearch::num_nodes() const { return state_->sum(&ProofDiver::num_nodes); }
std::int64_t CostSearch::num_parts() const { return state_->sum(&ProofDiver::num_parts); }

double CostSearch::log_upper() const {
  const State& s = *state_;
  Cost bound = s.board.bound();
  if (!s.has_begun) bound = std::min(bound, s.divers.front()->bottom());
  const CostTables& tables = s.board.tables();
  return tables.log_max - static_cast<double>(bound) / tables.scale;
}

}  // namespace treesample
