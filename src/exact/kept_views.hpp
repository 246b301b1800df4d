// The tables of a bucket of exact/kept_program.hpp with their numbers, as the loops of exact/kept_kernels.hpp take
// them.
#pragma once

#include <array>
#include <vector>

#include "exact/kept_kernels.hpp"
#include "exact/kept_program.hpp"

namespace treesample {

// The tables of a bucket as its loops take them.
class BucketView {
 public:
  // The scratch memory of repeated runs is 0 before and after.
  BucketView(const KeptProgram& program, const KeptProgram::Bucket& bucket, double* values, double* adjoints,
             double* scratch) {
    const auto input = [&](const KeptProgram::Operand& operand) {
      const KeptProgram::Table& table = program.tables[operand.table];
      double* const adjoint = adjoints != nullptr && table.is_wanted ? adjoints + table.adjoints : nullptr;
      BlockInput made{values + table.values, adjoint, operand.offsets.data(), operand.state_stride, operand.repeat};
      if (operand.repeat == 1) return made;
      made.spread = scratch + operand.scratch;
      made.spread_adjoint = made.spread + bucket.run;
      return made;
    };
    std::size_t count = bucket.runs.size() + bucket.constants.size();
    if (count > few_.size()) many_.resize(count);
    BlockInput* const all = count > few_.size() ? many_.data() : few_.data();
    BlockInput* to = all;
    for (const KeptProgram::Operand& operand : bucket.runs) *to++ = input(operand);
    for (const KeptProgram::Operand& operand : bucket.constants) *to++ = input(operand);
    loop_ = {bucket.num_blocks,
             bucket.run,
             bucket.num_states,
             {all, bucket.runs.size()},
             {all + bucket.runs.size(), bucket.constants.size()}};
  }
  BucketView(const BucketView&) = delete;
  BucketView& operator=(const BucketView&) = delete;
  [[nodiscard]] const BlockLoop& loop() const { return loop_; }

 private:
  std::array<BlockInput, 12> few_;
  std::vector<BlockInput> many_;
  BlockLoop loop_;
};

class GroupView {
 public:
  GroupView(const KeptProgram& program, const KeptProgram::Group& group, double* values, double* adjoints) {
    if (group.members.size() > few_.size()) many_.resize(group.members.size());
    GroupMember* const all = many_.empty() ? few_.data() : many_.data();
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      const KeptProgram::Table& table = program.tables[group.members[i]];
      double* const adjoint = adjoints != nullptr && table.is_wanted ? adjoints + table.adjoints : nullptr;
      all[i] = {values + table.values, adjoint, group.places[i].data()};
    }
    members_ = {all, group.members.size()};
  }
  GroupView(const GroupView&) = delete;
  GroupView& operator=(const GroupView&) = delete;
  [[nodiscard]] std::span<const GroupMember> members() const { return members_; }

 private:
  std::array<GroupMember, 12> few_;
  std::vector<GroupMember> many_;
  std::span<const GroupMember> members_;
};

}  // namespace treesample
