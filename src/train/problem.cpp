#include "treesample/train/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "train/target_range.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/names.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {
namespace {

constexpr std::uint64_t kNumFirstLooks = 16;  // problems of a generator that are inspected before its network is made

}  // namespace

// A model that the options name, and the distribution from which its evidence is drawn.
struct ProblemSource::KnownModel {
  FactorGraph graph;
  std::vector<int> evidence_variables = {};
  std::unique_ptr<const Elimination> target = {};
};

void ProblemOptions::validate() const {
  const int num_sources = (model_text.empty() ? 0 : 1) + (models.empty() ? 0 : 1) + (generator ? 1 : 0);
  check_argument(num_sources <= 1, "ProblemOptions", "one model, many, or a generator: not several of these");
  check_argument(evidence_variables.empty() || (has_models() && !generator), "ProblemOptions",
                 "evidence_variables need a model, not a family or a generator");
  check_argument(!is_single_graph || (models.empty() && !generator), "ProblemOptions",
                 "several models are no single graph");
}

ProblemSource::ProblemSource(ProblemOptions options) : options_(std::move(options)) {
  options_.validate();
  read_models();
  first_ = make(0);
}

void ProblemSource::read_models() {
  std::vector<std::pair<std::string, std::string>> texts = options_.models;
  if (!options_.model_text.empty()) texts.emplace_back(options_.model_text, options_.model_format);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string source = texts.size() == 1 ? "model" : fmt::format("model {}", i);
    auto model = std::make_shared<KnownModel>();
    model->graph = parse_model(texts[i].first, texts[i].second, source);
    const Names names(model->graph);
    for (const std::string& name : options_.evidence_variables) {
      model->evidence_variables.push_back(names.variable(name));
    }
    if (!model->evidence_variables.empty()) {
      model->target = std::make_unique<const Elimination>(model->graph, Limits{.threads = 1});
      check_argument(model->target->log_z() != kNegInf, "evidence_variables", source + " has Z = 0");
    }
    models_.push_back(std::move(model));
  }
}

// The model conditioned on the evidence variables, whose states are those of a sample.
FactorGraph ProblemSource::observed(const KnownModel& model, std::uint64_t id) const {
  if (model.evidence_variables.empty()) return model.graph;
  Random random(options_.seed, fmt::format("evidence/{}", id));
  const Assignment x = model.target->sample(random);
  Evidence evidence;
  for (const int v : model.evidence_variables) evidence.push_back({v, x[v]});
  return condition(model.graph, evidence).graph;
}

FactorGraph ProblemSource::generated(std::uint64_t id) const {
  Random random(options_.seed, fmt::format("generator/{}", id));
  const std::uint64_t number = random.below(std::uint64_t{1} << 31);
  FactorGraph graph = options_.generator(number);
  if (gnn_options_) {
    for (int v = 0; v < graph.num_variables(); ++v) {
      check_argument(
          graph.num_states(v) <= gnn_options_->num_states, "generator",
          fmt::format("{}: the model for {} has a variable of {} states; the first {} models had at most {}, "
                      "for which the network was made",
                      options_.generator_name, number, graph.num_states(v), kNumFirstLooks, gnn_options_->num_states));
    }
  }
  return graph;
}

std::vector<std::string> ProblemSource::network_kinds() const {
  if (options_.generator || options_.models.size() > 1 || !options_.evidence_variables.empty()) return {kTableKind};
  const std::vector<std::string>& kinds = first_->factor_kinds;
  const std::vector<std::string> described = described_factor_kinds();
  const bool is_described = std::all_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
    return std::find(described.begin(), described.end(), kind) != described.end();
  });
  return is_described ? described : std::vector<std::string>{kTableKind};
}

int ProblemSource::max_states() const {
  int most = 1;
  const auto look_at = [&](const FactorGraph& graph) {
    for (int v = 0; v < graph.num_variables(); ++v) most = std::max(most, graph.num_states(v));
  };
  look_at(first_->graph);
  for (const auto& model : models_) look_at(model->graph);
  for (std::uint64_t id = 1; options_.generator && id < kNumFirstLooks; ++id) look_at(generated(id));
  return most;
}

void ProblemSource::plan_for(const Network& network) {
  plan_network(network, first_->graph, first_->factor_kinds);  // throws if the network does not fit
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
  if (options_.generator) {
    problem->graph = generated(id);
    problem->factor_kinds = detect_factor_kinds(problem->graph);
  } else if (models_.empty()) {
    FamilyInstance instance =
        make_family(options_.family,
                    {.reading = options_.reading, .seed = options_.seed, .instance = id, .values = options_.values});
    problem->graph = std::move(instance.graph);
    problem->factor_kinds = std::move(instance.factor_kinds);
  } else {
    problem->graph = observed(*models_[id % models_.size()], id);
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
