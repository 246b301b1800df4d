// A thread of a proof: it searches below one open node after the other, depth first, for a number of contradictions.
//
// Where the variables that are still open fall into parts that no function joins, all but the largest part are solved
// by themselves, one after the other, and fixed in their best states: the work is then a sum over the parts and not a
// product (proof_parts.cpp). Such decisions have no other side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optimize/cost_network.hpp"
#include "optimize/proof_board.hpp"
#include "optimize/soft_consistency.hpp"

namespace treesample {

class ProofDiver {
 public:
  // At the root. The board must outlive the object.
  explicit ProofDiver(ProofBoard& board);
  // A copy of one that stands at the root.
  ProofDiver(const ProofDiver& root);
  ProofDiver& operator=(const ProofDiver&) = delete;

  // Sweeps, then consistency. False: nothing better than what is known is left.
  [[nodiscard]] bool begin(StopCheck& stop);
  void dive(const OpenNodes::Node& node, StopCheck& stop);

  [[nodiscard]] Cost bottom() const { return network_.bottom(); }
  [[nodiscard]] std::int64_t num_steps() const { return network_.num_steps(); }
  [[nodiscard]] std::int64_t num_contradictions() const { return num_contradictions_; }
  [[nodiscard]] std::int64_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] std::int64_t num_parts() const { return num_parts_; }  // that were solved by themselves

 private:
  enum class Outcome { kSolved, kNone, kGivenUp };

  bool replay(StopCheck& stop);
  [[nodiscard]] bool decide(const BranchDecision& decision, StopCheck& stop);
  [[nodiscard]] int choose_variable(std::span<const int> among) const;
  [[nodiscard]] int choose_state(int v) const;
  void take_solution();
  void note_contradiction();

  // ---- proof_parts.cpp -------------------------------------------------------------------------------------------
  // Solves small parts of `among` and adds their decisions. False: a contradiction.
  bool fix_parts(std::span<const int> among, std::vector<BranchDecision>& decisions, StopCheck& stop);
  [[nodiscard]] std::vector<std::vector<int>> parts_of(std::span<const int> among);
  Outcome solve(const std::vector<int>& part, std::vector<BranchDecision>& best, StopCheck& stop);
  Outcome search_part(const std::vector<int>& part, std::vector<BranchDecision>& best, StopCheck& stop);
  bool step_back(std::vector<BranchDecision>& path);
  [[nodiscard]] bool looks_for_parts();

  ProofBoard& board_;
  std::vector<int> line_;
  CostNetwork network_;
  SoftConsistency consistency_;
  std::vector<double> weights_;  // by function
  Assignment hint_;              // the best configuration at the beginning of the dive
  int last_variable_ = -1;
  std::int64_t num_contradictions_ = 0, num_nodes_ = 0, num_repeated_ = 0, dive_length_;
  // The present dive: what was decided below the open node, and the bound before each decision.
  std::vector<BranchDecision> path_;
  std::vector<Cost> bounds_;
  OpenNodes::Node from_;
  // Parts.
  std::vector<int> part_of_;  // by variable; scratch
  std::int64_t num_parts_ = 0, num_looks_ = 0, num_skipped_ = 0, part_end_ = 0;
  std::size_t most_in_part_ = SIZE_MAX;
};

}  // namespace treesample
