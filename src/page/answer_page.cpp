// The data of an answer's page: the answer's own JSON, and the data that only the pictures need.
#include "treesample/page/answer_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "page/answer_object.hpp"
#include "page/page_circuit.hpp"
#include "page/result_table.hpp"
#include "treesample/model/network.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostTracePoints = 600;
constexpr std::size_t kMostTreeNodes = 2000;
constexpr std::size_t kMostScopeEntries = 400'000;  // of the graph; makes some megabytes

// Null if the value is not finite and so cannot be drawn.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json trace_json(const std::vector<TracePoint>& trace) {
  Json rows = Json::array();
  const std::size_t num_shown = std::min(trace.size(), kMostTracePoints);
  for (std::size_t i = 0; i < num_shown; ++i) {
    const std::size_t at = num_shown < 2 ? 0 : i * (trace.size() - 1) / (num_shown - 1);  // includes first and last
    const TracePoint& point = trace[at];
    rows.push_back({point.seconds, point.evaluations, finite(point.log_z.lower), finite(point.log_z.upper),
                    point.estimate ? finite(*point.estimate) : Json()});
  }
  return rows;
}

// Scopes by index. In a Bayesian network the last variable of each is the child.
Json graph_json(const FactorGraph& graph) {
  std::size_t num_entries = 0;
  for (int m = 0; m < graph.num_factors(); ++m) num_entries += graph.factor(m).scope().size();
  Json json = {{"is_network", check_network(graph).has_form}, {"scopes", Json()}};
  if (num_entries > kMostScopeEntries) return json;
  json["scopes"] = Json::array();
  for (int m = 0; m < graph.num_factors(); ++m) json["scopes"].push_back(graph.factor(m).scope());
  return json;
}

Json edge_json(const ExploredTree::Edge& edge) {
  return {{"state", edge.state},
          {"q", json_number(edge.q)},
          {"probability", edge.probability},
          {"visits", edge.visits},
          {"lower", json_number(edge.bounds.lower)},
          {"upper", json_number(edge.bounds.upper)},
          {"evaluated", edge.is_evaluated},
          {"children", edge.children},
          {"left_out", edge.num_children_left_out}};
}

Json tree_json(const Answer& answer) {
  if (!answer.approximation) return {};
  const ExploredTree tree = answer.approximation->explored_tree(kMostTreeNodes);
  if (tree.nodes.empty()) return {};
  Json nodes = Json::array();
  for (const ExploredTree::Node& node : tree.nodes) {
    Json edges = Json::array();
    for (const ExploredTree::Edge& edge : node.edges) edges.push_back(edge_json(edge));
    nodes.push_back({{"variable", node.variable},
                     {"mass", node.mass},
                     {"edges", std::move(edges)},
                     {"left_out", node.num_edges_left_out}});
  }
  return {{"num_nodes", tree.num_nodes_searched}, {"roots", tree.roots}, {"nodes", std::move(nodes)}};
}

// Results that are a number with a unit and have no section of their own on the page.
Json numbers_json(const Answer& answer) {
  Json numbers = Json::array();
  for (const ResultRow& row : result_rows()) {
    const std::string text = number_text(row, answer);
    if (!text.empty()) numbers.push_back({row.name, text});
  }
  return numbers;
}

}  // namespace

std::string answer_page(const Answer& answer, const Model& model, const AnswerSource& source,
                        const std::vector<TracePoint>& trace) {
  JsonWriter out;
  out.begin_object();
  out.field("kind", Json("answer"));
  out.name("answer");
  write_answer(out, answer, model, source, Detail::kForPeople);
  out.field("numbers", numbers_json(answer));
  out.field("num_samples", Json(answer.samples.size()));
  out.field("trace", trace_json(trace));
  out.field("graph", graph_json(model.graph));
  out.field("tree", tree_json(answer));
  out.field("circuit", page_circuit_json(answer, model));
  out.end_object();
  const std::string name = std::filesystem::path(source.model_file).filename().string();
  return page_of(printable(name.empty() ? "Answer" : "Answer: " + name), out.take());
}

}  // namespace treesample
