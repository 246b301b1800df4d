#include "monotone/box_tree.hpp"

#include <algorithm>
#include <cmath>

namespace treesample {

double BoxTree::Node::log_gap() const {
  if (is_decided()) return kNegInf;
  if (lower == kNegInf || upper == HUGE_VAL) return log_mass + upper;
  return log_mass + upper + log1mexp(upper - lower);
}

BoxTree::BoxTree(const FactorGraph& graph, const TableMasses& masses) : graph_(&graph), masses_(&masses) {
  nodes_.push_back({.log_mass = masses.log_mass(Box::of_all(graph)), .lower = kNegInf, .upper = HUGE_VAL});
  place_of_.push_back(num_places_++);
  count(0);
  wait(0);
}

Box BoxTree::box(int node) const {
  Box box = Box::of_all(*graph_);
  for (int child = node; nodes_[child].parent >= 0; child = nodes_[child].parent) {
    const Node& parent = nodes_[nodes_[child].parent];
    const int v = parent.variable;
    if (child == parent.children) {
      box.last[v] = std::min(box.last[v], parent.cut - 1);
    } else {
      box.first[v] = std::max(box.first[v], parent.cut);
    }
  }
  return box;
}

int BoxTree::leaf(std::span<const int> x) const {
  int node = 0;
  while (!nodes_[node].is_leaf()) {
    node = nodes_[node].children + (x[nodes_[node].variable] < nodes_[node].cut ? 0 : 1);
  }
  return node;
}

std::optional<int> BoxTree::next() {
  if (waiting_.empty()) return {};
  const int node = waiting_.top().node;
  waiting_.pop();
  return node;
}

void BoxTree::wait(int leaf) {
  if (!nodes_[leaf].is_decided()) waiting_.push({nodes_[leaf].log_gap(), leaf});
}

void BoxTree::count(int leaf) {
  const Node& node = nodes_[leaf];
  const auto sum = [&](double bound) { return node.log_mass == kNegInf ? kNegInf : node.log_mass + bound; };
  lower_.set(static_cast<std::size_t>(place_of_[leaf]), sum(node.lower));
  upper_.set(static_cast<std::size_t>(place_of_[leaf]), sum(node.upper));
  for (const double number : {node.log_mass, node.lower, node.upper}) {
    if (std::isfinite(number)) magnitude_ = std::max(magnitude_, std::abs(number));
  }
}

void BoxTree::tighten(int leaf, double lower, double upper, double magnitude) {
  Node& node = nodes_[leaf];
  magnitude_ = std::max(magnitude_, magnitude);
  if (lower <= node.lower && upper >= node.upper) return;
  node.lower = std::max(node.lower, lower);
  node.upper = std::min(node.upper, upper);
  // Rounding may make values contradict each other (KnownValues::noise).
  if (node.lower > node.upper) node.upper = node.lower;
  count(leaf);
}

void BoxTree::split(int leaf, int variable, int cut) {
  const auto first = static_cast<int>(nodes_.size());
  nodes_[leaf].variable = variable;
  nodes_[leaf].cut = cut;
  nodes_[leaf].children = first;
  for (int i = 0; i < 2; ++i) {
    nodes_.push_back({.parent = leaf, .lower = nodes_[leaf].lower, .upper = nodes_[leaf].upper});
    place_of_.push_back(i == 0 ? place_of_[leaf] : num_places_++);
    nodes_.back().log_mass = masses_->log_mass(box(first + i));
    count(first + i);
    wait(first + i);
  }
}

double BoxTree::rounding() const {
  constexpr double kUnit = 0x1.0p-51;
  return masses_->log_error() + kUnit * magnitude_ * static_cast<double>(4 * (lower_.depth() + 2));
}

}  // namespace treesample
