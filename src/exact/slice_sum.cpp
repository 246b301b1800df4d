#include "treesample/exact/slice_sum.hpp"

#include <fmt/format.h>

#include "exact/slice_file.hpp"
#include "exact/slices.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample {
namespace {

bool has_same_bits(const SliceRow& a, const SliceRow& b) {
  return a.log_z.lower == b.log_z.lower && a.log_z.upper == b.log_z.upper && a.estimate == b.estimate;
}

}  // namespace

SliceSum sum_slices(const std::vector<std::filesystem::path>& files, const std::filesystem::path& out) {
  check_argument(!files.empty(), "sum_slices", "there are no files");
  SliceContents all = read_slices(files.front());
  for (const std::filesystem::path& path : files) {
    SliceContents part = read_slices(path);
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::kArgument, fmt::format("{}: {}", path.string(), why));
    };
    if (part.num_bytes == 0) refuse("has no slices; allowed are files of slices that were begun");
    if (part.head != all.head) {
      refuse(
          fmt::format("is of another elimination than {}; allowed are files of the same model, evidence, order and "
                      "slices",
                      files.front().string()));
    }
    for (const auto& [slice, row] : part.rows) {
      const auto [known, is_new] = all.rows.emplace(slice, row);
      if (!is_new && !has_same_bits(known->second, row)) {
        refuse(fmt::format("has another value of slice {} than an earlier file", slice));
      }
    }
  }
  SliceSum result;
  result.num_slices = all.head.num_slices;
  result.num_done = all.rows.size();
  LogSum sum;
  for (const auto& [slice, row] : all.rows) sum.add(row.log_z, row.estimate);
  const bool is_complete = result.num_done == result.num_slices;
  // The slices that are missing are not negative.
  const LogBounds found = sum.bounds();
  result.log_z = LogBounds{found.lower, is_complete ? found.upper : all.head.log_upper}.widened(all.head.log_slack);
  result.estimate = sum.estimate();
  if (!out.empty()) write_file_atomically(out, slices_text(all));
  return result;
}

}  // namespace treesample
