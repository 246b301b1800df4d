// Lists nodes by the probability that a sample reaches them, the most probable one first.
#include <algorithm>
#include <numeric>
#include <queue>

#include "treesample/store/store_approximation.hpp"

namespace treesample {
namespace {

constexpr std::size_t kMostEdges = 50;  // of a node: nobody reads more of them

class Explorer {
 public:
  explicit Explorer(const StoreView& view) : view_(view) { tree_.num_nodes_searched = view.num_nodes(); }

  ExploredTree run(std::size_t max_nodes) {
    const SearchSpace& space = view_.space();
    for (std::size_t r = 0; r < space.roots.size(); ++r) offer({.mass = 1.0, .level = space.roots[r]}, view_.root(r));
    while (!open_.empty() && tree_.nodes.size() < max_nodes) {
      const Place place = open_.top();
      open_.pop();
      add(place);
    }
    for (; !open_.empty(); open_.pop()) {
      const Place& left = open_.top();
      if (left.parent >= 0) ++edge_above(left).num_children_left_out;
    }
    return std::move(tree_);
  }

 private:
  struct Place {
    double mass = 0.0;
    std::uint64_t number = 0;  // the order in which nodes were met, which decides between equal masses
    int level = 0;
    NodeIndex index = kNoNode;
    int parent = -1;       // in the tree
    std::size_t edge = 0;  // of the parent

    bool operator<(const Place& other) const { return mass != other.mass ? mass < other.mass : number > other.number; }
  };

  void offer(Place place, NodeIndex index) {
    if (index == kNoNode) return;
    place.index = index;
    place.number = num_offered_++;
    open_.push(place);
  }
  ExploredTree::Edge& edge_above(const Place& place) { return tree_.nodes[place.parent].edges[place.edge]; }

  void add(const Place& place) {
    if (!view_.read(place.level, place.index, StoreView::Read::kAll, edges_)) return;
    view_.read_facts(place.level, place.index, facts_);
    const Level& here = view_.space().levels[place.level];
    const int number = static_cast<int>(tree_.nodes.size());
    (place.parent < 0 ? tree_.roots : edge_above(place).children).push_back(number);
    ExploredTree::Node& node = tree_.nodes.emplace_back();
    node.variable = here.variable;
    node.mass = place.mass;
    for (const int a : shown_states(here.num_states)) {
      ExploredTree::Edge& edge = node.edges.emplace_back();
      edge.state = a;
      edge.q = edges_.values[a];
      edge.probability = edges_.total > 0.0 ? edges_.probability(a) : 0.0;
      edge.visits = facts_[a].visits;
      edge.bounds = facts_[a].bounds;
      edge.is_evaluated = edges_.is_evaluated[a] != 0;
      for (std::size_t j = 0; j < here.children.size(); ++j) {
        offer({.mass = place.mass * edge.probability,
               .level = here.children[j],
               .parent = number,
               .edge = node.edges.size() - 1},
              edges_.children[static_cast<std::size_t>(a) * here.children.size() + j]);
      }
    }
    node.num_edges_left_out = here.num_states - static_cast<int>(node.edges.size());
  }

  // All states in their order or, if there are many, the most probable ones.
  std::vector<int> shown_states(int num_states) const {
    std::vector<int> states(static_cast<std::size_t>(num_states));
    std::iota(states.begin(), states.end(), 0);
    if (states.size() <= kMostEdges) return states;
    std::stable_sort(states.begin(), states.end(),
                     [this](int a, int b) { return edges_.weights[a] > edges_.weights[b]; });
    states.resize(kMostEdges);
    return states;
  }

  const StoreView& view_;
  ExploredTree tree_;
  std::priority_queue<Place> open_;
  std::uint64_t num_offered_ = 0;
  NodeEdges edges_;
  std::vector<EdgeFacts> facts_;
};

}  // namespace

ExploredTree StoreApproximation::explored_tree(std::size_t max_nodes) const { return Explorer(*view_).run(max_nodes); }

}  // namespace treesample
