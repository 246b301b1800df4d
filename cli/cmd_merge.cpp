// treesample merge: the sum of slices of elimination that were computed in several places.
#include <fmt/format.h>

#include <filesystem>

#include "command.hpp"
#include "file_roles.hpp"
#include "treesample/exact/slice_sum.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

class MergeCommand final : public Command {
 public:
  std::string name() const override { return "merge"; }
  std::string summary() const override { return "Add up slices of elimination from several files"; }
  std::string examples() const override {
    return "  treesample order grid.uai --memory 1G --time 60 --out grid.order\n"
           "  treesample infer grid.uai --method exact --order grid.order --slices 0..8 --resume part0\n"
           "  treesample infer grid.uai --method exact --order grid.order --slices 8..16 --resume part1\n"
           "  treesample merge part0 part1 --out all";
  }
  void declare(CommandLine& line) override {
    line.positionals("FILES", files_, "Files of slices, which infer --resume has written");
    line.option("--out", out_, "FILE", "Also write a file of all their slices, from which infer --resume goes on");
  }
  int run() override;

 private:
  std::vector<std::string> files_;
  std::string out_;
};

int MergeCommand::run() {
  std::vector<FileRole> kept;
  for (const std::string& file : files_) kept.push_back({"FILES", file});
  if (!out_.empty()) check_distinct(kept, {{"--out", out_}});
  const SliceSum sum = sum_slices({files_.begin(), files_.end()}, out_);
  fmt::print("slices          {} of {}\n", sum.num_done, sum.num_slices);
  if (sum.log_z.is_exact()) {
    fmt::print("log Z           {}, exact (certified to {:.2g})\n", log_value_text(sum.estimate),
               0.5 * (sum.log_z.upper - sum.log_z.lower));
  } else {
    fmt::print("log Z           certified [{}, {}]\n", decimal_bound(sum.log_z.lower, -1.0),
               decimal_bound(sum.log_z.upper, 1.0));
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_merge_command() { return std::make_unique<MergeCommand>(); }

}  // namespace treesample::cli
