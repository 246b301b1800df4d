// Parts of the open variables that no function joins, solved by themselves.
#include <algorithm>

#include "optimize/proof_diver.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kMostOfPart = 4096;  // contradictions until a part is given up
// Parts are looked for at every node at first; where they are rare, at some nodes only.
constexpr std::int64_t kLooks = 256, kFewestParts = 8, kSkipped = 31;

}  // namespace

bool ProofDiver::looks_for_parts() {
  if (board_.options().num_best > 1 || !board_.options().splits) return false;
  if (num_looks_ >= kLooks && num_parts_ * kFewestParts < num_looks_ && num_skipped_++ % kSkipped != 0) return false;
  ++num_looks_;
  return true;
}

// The largest one last.
std::vector<std::vector<int>> ProofDiver::parts_of(std::span<const int> among) {
  std::vector<std::vector<int>> parts;
  for (const int v : among) part_of_[v] = -1;
  for (const int first : among) {
    if (network_.size(first) == 1 || part_of_[first] >= 0) continue;
    const auto part = static_cast<int>(parts.size());
    std::vector<int>& members = parts.emplace_back(1, first);
    part_of_[first] = part;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const CostNetwork::Use& use : network_.uses(members[i])) {
        for (const CostNetwork::Place& place : network_.places(use.function)) {
          const int u = place.variable;
          if (network_.size(u) == 1 || part_of_[u] == part) continue;
          part_of_[u] = part;
          members.push_back(u);
        }
      }
    }
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return parts;
}

bool ProofDiver::fix_parts(std::span<const int> among, std::vector<BranchDecision>& decisions, StopCheck& stop) {
  const std::vector<std::vector<int>> parts = parts_of(among);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].size() > most_in_part_) break;
    std::vector<BranchDecision> best;
    const Outcome outcome = solve(parts[i], best, stop);
    if (outcome == Outcome::kNone) return false;
    if (outcome == Outcome::kGivenUp) {
      most_in_part_ = std::min(most_in_part_, parts[i].size() - 1);
      break;
    }
    ++num_parts_;
    for (const BranchDecision& decision : best) {
      decisions.push_back(decision);
      if (!network_.assign(decision.variable, decision.state)) return false;
    }
    if (!consistency_.propagate(stop)) return false;
  }
  return true;
}

// Its best states: within it the costs of other parts stay as they are, so that the bottom tells its costs alone.
ProofDiver::Outcome ProofDiver::solve(const std::vector<int>& part, std::vector<BranchDecision>& best,
                                      StopCheck& stop) {
  const bool is_outermost = !network_.has_focus();
  if (is_outermost) part_end_ = num_contradictions_ + kMostOfPart;
  const Cost top = network_.top();
  const std::vector<int> focus = network_.exchange_focus(part);
  const int num_marks = network_.num_marks();
  network_.mark();
  const Outcome outcome = search_part(part, best, stop);
  while (network_.num_marks() > num_marks) network_.undo();
  static_cast<void>(network_.exchange_focus(focus));
  network_.set_top(top);
  return outcome;
}

ProofDiver::Outcome ProofDiver::search_part(const std::vector<int>& part, std::vector<BranchDecision>& best,
                                            StopCheck& stop) {
  std::vector<BranchDecision> path;
  Outcome outcome = Outcome::kNone;
  const Cost least = network_.bottom();
  for (bool is_possible = true;;) {
    if (is_possible && !path.empty()) is_possible = fix_parts(part, path, stop);
    if (stop.is_asked(1) || num_contradictions_ > part_end_) return Outcome::kGivenUp;
    const int v = is_possible ? choose_variable(part) : -1;
    if (v >= 0) {
      ++num_nodes_;
      path.push_back({v, choose_state(v)});
      last_variable_ = v;
      network_.mark();
      is_possible = decide(path.back(), stop);
      continue;
    }
    if (is_possible) {
      outcome = Outcome::kSolved;
      best.clear();
      for (const int u : part) best.push_back({u, network_.states(u)[0], true, /*is_forced=*/true});
      if (network_.bottom() == least) return outcome;
      network_.set_top(network_.bottom());
    } else {
      note_contradiction();
    }
    if (!step_back(path)) return outcome;
    is_possible = network_.bottom() < network_.top() && decide(path.back(), stop);
  }
}

}  // namespace treesample
