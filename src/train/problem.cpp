#include "treesample/train/problem.hpp"

#include <algorithm>
#include <utility>

#include "train/target_range.hpp"
#include "treesample/error.hpp"
#include "treesample/io/model_file.hpp"

namespace treesample {

ProblemSource::ProblemSource(ProblemOptions options) : options_(std::move(options)) { first_ = make(0); }

std::vector<std::string> ProblemSource::network_kinds() const {
  const std::vector<std::string>& kinds = first_->factor_kinds;
  const std::vector<std::string> described = described_factor_kinds();
  const bool is_described = std::all_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
    return std::find(described.begin(), described.end(), kind) != described.end();
  });
  return is_described ? described : std::vector<std::string>{kTableKind};
}

int ProblemSource::max_states() const {
  int most = 1;
  for (int v = 0; v < num_variables(); ++v) most = std::max(most, first_->graph.num_states(v));
  return most;
}

void ProblemSource::plan_for(const Network& network) {
  plan_network(network, first_->graph, first_->factor_kinds);  // does it fit?
  gnn_options_.reset();
  if (const Gnn* const gnn = std::get_if<Gnn>(&network)) gnn_options_ = gnn->options();
  auto first = std::make_shared<Problem>(*first_);
  add_plan(*first);
  first_ = std::move(first);
}

std::shared_ptr<const Problem> ProblemSource::problem(std::uint64_t id) const {
  if (id == first_->id || options_.is_single()) return first_;
  std::shared_ptr<Problem> problem = make(id);
  add_plan(*problem);
  return problem;
}

std::shared_ptr<Problem> ProblemSource::make(std::uint64_t id) const {
  auto problem = std::make_shared<Problem>();
  problem->id = id;
  if (options_.model_text.empty()) {
    FamilyInstance instance =
        make_family(options_.family,
                    {.reading = options_.reading, .seed = options_.seed, .instance = id, .values = options_.values});
    problem->graph = std::move(instance.graph);
    problem->factor_kinds = std::move(instance.factor_kinds);
  } else {
    problem->graph = parse_model(options_.model_text, options_.model_format, "model");
    problem->factor_kinds = detect_factor_kinds(problem->graph);
  }
  check_argument(problem->graph.num_variables() > 0, "ProblemSource", "the model has no variables");
  const std::vector<int> order =
      search_order(problem->graph, SpaceKind::kTree, {.kind = options_.order, .restarts = 0, .seed = options_.seed});
  problem->space = make_search_space(problem->graph, order, SpaceKind::kTree);
  problem->offsets = independent_values(problem->graph, problem->space);
  problem->target_ranges = target_ranges(problem->graph, problem->space, problem->offsets);
  return problem;
}

void ProblemSource::add_plan(Problem& problem) const {
  if (gnn_options_) problem.plan.emplace(problem.graph, problem.factor_kinds, *gnn_options_);
}

}  // namespace treesample
