// The inner loops of exact/kept_elimination.hpp.
//
// A bucket is walked block by block. Within a block an input is a run of consecutive numbers or one number. The run is
// over the cases, or over the states of the variables that are removed last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace treesample {

struct BlockInput {
  const double* values = nullptr;
  double* adjoint = nullptr;               // null where it is not wanted
  const std::uint32_t* offsets = nullptr;  // by block
  std::size_t state_stride = 0;            // of the variable that is summed out
  // A run that lacks the fastest variables has each entry so many times in a row; these have room for one run, and for
  // its adjoint.
  std::size_t repeat = 1;
  double* spread = nullptr;
  double* spread_adjoint = nullptr;
};

struct BlockLoop {
  std::size_t num_blocks = 1, run = 1, num_states = 1;
  std::span<const BlockInput> runs, constants;
};

// The room that sum_blocks() and spread_adjoints() need, beside what repeated runs need.
inline std::size_t scratch_for(std::size_t num_runs, std::size_t run) { return (num_runs + 2) * run; }

// out = the sum over the states of the product.
void sum_blocks(const BlockLoop& loop, double* out, double* scratch);
// Adds to the adjoint of each input: `adjoint` of the message times the product of the other inputs.
void spread_adjoints(const BlockLoop& loop, const double* adjoint, double* scratch);

// The product of several tables over one scope; places[i][e] is the entry of member i for the entry e.
struct GroupMember {
  const double* values = nullptr;
  double* adjoint = nullptr;
  const std::uint32_t* places = nullptr;
};
void multiply_members(std::span<const GroupMember> members, std::size_t size, double* product);
// Adds to the adjoints of the members.
void spread_group(std::span<const GroupMember> members, std::size_t size, const double* adjoint, double* scratch);

// By lane, of `count` entries each: the largest one and the least above 0.
void lane_extents(const double* values, std::size_t count, std::size_t num_lanes, double* largest, double* least);
// Multiplies the entries of each lane by a number.
void scale_lanes(double* values, std::size_t count, std::size_t num_lanes, const double* factors);
// adjoint = 0 where the value is 0, and times the number of the lane elsewhere.
void mask_lanes(const double* values, double* adjoint, std::size_t count, std::size_t num_lanes, const double* factors);

}  // namespace treesample
