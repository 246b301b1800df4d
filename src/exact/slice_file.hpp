// The finished slices of an elimination, in a file that survives the end of the program, whatever ends it.
//
// Lines of text, each with a checksum. Numbers are written as their bits, so that what is read is exactly what was
// computed:
//
//   treesample-slices 3 MODEL SLICES UPPER SLACK N ORDER... K VARIABLES... CHECKSUM   what is eliminated, and how it is
//                                                                                    cut; bounds for sums of parts
//   SLICE LOWER UPPER ESTIMATE CHECKSUM                                              one line per slice, in any order
//
// A line is written before the next slice begins, and is on the disk half a second later. An incomplete last line, left
// by a program that was killed, is removed; any other damage is refused. The order and the variables are in the file
// because another plan, with another limit of memory, might have others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "stopwatch.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct SliceHead {
  std::uint64_t model = 0;  // a hash
  std::uint64_t num_slices = 0;
  double log_upper = 0.0;  // of log Z, before anything is summed
  double log_slack = 0.0;  // SliceWork
  std::vector<int> order = {}, slice_variables = {};

  bool operator==(const SliceHead&) const = default;
};

struct SliceRow {
  LogBounds log_z;
  double estimate = 0.0;
};

struct SliceContents {
  SliceHead head;
  std::map<std::uint64_t, SliceRow> rows;
  std::size_t num_bytes = 0;  // of whole lines
};

// Throws Error (kParse) that names the file where it is damaged.
SliceContents read_slices(const std::filesystem::path& path);
std::string slices_text(const SliceContents& contents);

class SliceFile {
 public:
  // Opens the file, or creates it. Throws an Error that names it: kIo where it cannot be opened or another run uses it,
  // kParse where it is damaged or another kind of file, kArgument where it belongs to another model.
  SliceFile(std::filesystem::path path, const FactorGraph& graph);
  ~SliceFile();
  SliceFile(const SliceFile&) = delete;
  SliceFile& operator=(const SliceFile&) = delete;

  [[nodiscard]] bool is_new() const { return contents_.head.order.empty(); }
  [[nodiscard]] const std::vector<int>& order() const { return contents_.head.order; }
  [[nodiscard]] const std::vector<int>& slice_variables() const { return contents_.head.slice_variables; }
  [[nodiscard]] const std::map<std::uint64_t, SliceRow>& rows() const { return contents_.rows; }

  // Writes the header of a new file; to be called before its first row.
  void begin(const FactorGraph& graph, const EliminationPlan& plan, double log_slack);
  // Writes the row of a slice that is not there. Throws Error (kWrite).
  void add(std::uint64_t slice, const SliceRow& row);

 private:
  void read(const FactorGraph& graph);
  void append(const std::string& text);

  std::filesystem::path path_;
  int descriptor_ = -1;
  SliceContents contents_;
  Stopwatch since_sync_;
};

}  // namespace treesample
