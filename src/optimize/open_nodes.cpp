#include "optimize/open_nodes.hpp"

#include <algorithm>

namespace treesample {

bool OpenNodes::has_room() const { return links_.size() * sizeof(Link) + nodes_.size() * sizeof(Node) < bytes_; }

OpenNodes::Node OpenNodes::pop() {
  const Node node = nodes_.top();
  nodes_.pop();
  return node;
}

std::int64_t OpenNodes::add(std::int64_t before, const BranchDecision& decision) {
  const int depth = before == kRoot ? 1 : links_[before].depth + 1;
  links_.push_back({decision, before, depth});
  return std::ssize(links_) - 1;
}

void OpenNodes::push_path(std::int64_t from, std::span<const BranchDecision> path, std::span<const Cost> bounds,
                          std::optional<Cost> end) {
  std::int64_t last = from;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i].has_other()) {
      BranchDecision other = path[i];
      other.is_equal = false;
      const std::int64_t link = add(last, other);
      nodes_.push({bounds[i], link, links_[link].depth});
    }
    if (i + 1 < path.size() || end) last = add(last, path[i]);
  }
  if (end) nodes_.push({*end, last, last == kRoot ? 0 : links_[last].depth});
}

std::vector<BranchDecision> OpenNodes::decisions(std::int64_t last) const {
  std::vector<BranchDecision> found;
  for (; last != kRoot; last = links_[last].before) found.push_back(links_[last].decision);
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace treesample
