// Slices of one elimination that are computed in several places.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/math/log_bounds.hpp"

namespace treesample {

struct SliceSum {
  std::uint64_t num_slices = 0, num_done = 0;
  LogBounds log_z;        // certified at any stage: slices that are missing count as 0 below
  double estimate = 0.0;  // the logarithm of the sum so far
};

// Adds up what these files of slices (SliceWork::file) have. They must be of the same elimination; a
// slice that several of them have must have the same bits in each. Where `out` is not empty, it becomes a file of all
// slices that are known, from which an elimination resumes. Throws Error that names a file: kIo, kParse where it is
// damaged, kArgument where it does not go with the first one.
SliceSum sum_slices(const std::vector<std::filesystem::path>& files, const std::filesystem::path& out = {});

// What a worker of an executor does for an elimination elsewhere (SliceWork::executor): the values of a task, from what
// it shares with others. Throws Error: kParse where the bytes are damaged, kArgument where they are of another version
// of the library, or there is no such task.
std::vector<double> do_slice_task(std::string_view shared, const std::string& kind,
                                  std::span<const std::int64_t> arguments);

}  // namespace treesample
