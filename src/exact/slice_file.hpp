// The finished slices of an elimination, in a file that survives the end of the program, whatever ends it.
//
// Lines of text, each with a checksum. Numbers are written as their bits, so that what is read is exactly what was
// computed:
//
//   treesample-slices 2 MODEL N ORDER... K VARIABLES... CHECKSUM      what is eliminated, and how it is cut
//   SLICE LOWER UPPER ESTIMATE CHECKSUM                               one line per slice, from the first on
//
// A line is on the disk before the next slice begins. An incomplete last line, left by a program that was killed, is
// removed; any other damage is refused. The order and the variables are in the file because a new search for them, for
// as long as the clock allows, might find others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

class SliceFile {
 public:
  struct Row {
    LogBounds log_z;
    double estimate = 0.0;
  };

  // Opens the file, or creates it. Throws an Error that names it: kIo where it cannot be opened or another run uses it,
  // kParse where it is damaged or another kind of file, kArgument where it belongs to another model.
  SliceFile(std::filesystem::path path, const FactorGraph& graph);
  ~SliceFile();
  SliceFile(const SliceFile&) = delete;
  SliceFile& operator=(const SliceFile&) = delete;

  [[nodiscard]] bool is_new() const { return order_.empty(); }
  [[nodiscard]] const std::vector<int>& order() const { return order_; }
  [[nodiscard]] const std::vector<int>& slice_variables() const { return slice_variables_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }  // of the first slices

  // Writes the header of a new file; to be called before its first row.
  void begin(const EliminationCost& cost);
  // Writes the row of the next slice, which is on the disk when this returns. Throws Error (kWrite).
  void add(const Row& row);

 private:
  void read(const FactorGraph& graph);
  void read_head(std::string_view line, const FactorGraph& graph);
  void read_row(std::string_view line);
  void append(const std::string& line);
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path path_;
  std::uint64_t model_;
  int descriptor_ = -1;
  std::vector<int> order_, slice_variables_;
  double num_slices_ = 1.0;
  std::vector<Row> rows_;
};

}  // namespace treesample
