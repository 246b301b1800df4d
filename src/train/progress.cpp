#include "train/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/io/figure.hpp"
#include "treesample/io/file.hpp"

namespace treesample {
namespace {

constexpr const char* kHeader =
    "episode,problem,version,steps,loss,rows,delta_kl,delta_kl_phi,delta_kl_plain,delta_kl_telescoped,bellman_residual,"
    "log_z\n";
// The loss, and the delta-KL with inference, of Q_phi alone and with telescoped values, each minus that of the plain
// search.
constexpr int kNumCurves = 4;

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.6f}", *value) : ""; }
std::string loss_cell(const std::optional<double>& loss) { return loss ? fmt::format("{:.6g}", *loss) : ""; }

// Means over blocks of episodes, because single episodes scatter too much. delta-KL is shown relative to the search
// without a value function on the same problem, as in the paper's Table 2.
struct Block {
  double episode = 0.0;
  std::array<double, kNumCurves> sums = {};
  std::array<int, kNumCurves> counts = {};
};

void add(Block& block, int curve, const std::string& value, const std::string& reference) {
  if (value.empty() || reference.empty()) return;
  block.sums[curve] += std::strtod(value.c_str(), nullptr) - std::strtod(reference.c_str(), nullptr);
  ++block.counts[curve];
}

std::vector<Block> read_blocks(const std::filesystem::path& csv) {
  std::istringstream lines(read_file(csv));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(lines, line);  // the header
  while (std::getline(lines, line)) {
    std::vector<std::string> cells(1);
    for (const char c : line) c == ',' ? static_cast<void>(cells.emplace_back()) : cells.back().push_back(c);
    if (cells.size() == 12) rows.push_back(std::move(cells));
  }
  const std::size_t block_size = std::max<std::size_t>(1, rows.size() / 60);
  std::vector<Block> blocks;
  for (std::size_t first = 0; first < rows.size(); first += block_size) {
    Block block;
    const std::size_t end = std::min(first + block_size, rows.size());
    block.episode = static_cast<double>(end);
    for (std::size_t row = first; row < end; ++row) {
      const std::vector<std::string>& cells = rows[row];
      add(block, 0, cells[4], "0");
      add(block, 1, cells[6], cells[8]);
      add(block, 2, cells[7], cells[8]);
      add(block, 3, cells[9], cells[8]);
    }
    blocks.push_back(block);
  }
  return blocks;
}

std::string gnuplot_script(const std::vector<Block>& blocks) {
  std::string script = "$data << EOD\n";
  for (const Block& block : blocks) {
    script += fmt::format("{:.0f}", block.episode);
    for (int curve = 0; curve < kNumCurves; ++curve) {
      script += block.counts[curve] > 0 ? fmt::format(" {:.6g}", block.sums[curve] / block.counts[curve]) : " NaN";
    }
    script += '\n';
  }
  script += "EOD\n";
  // Without a learner step there is no loss, and gnuplot refuses an axis without values.
  const bool has_loss =
      std::any_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.counts[0] > 0; });
  if (has_loss) script += "set y2label 'loss'\nset ytics nomirror\nset y2tics\nset logscale y2\n";
  script += R"(
set xlabel 'episodes'
set ylabel 'delta-KL relative to search without value function'
set key outside bottom center horizontal
set grid
do for [format in 'svg png'] {
  if (format eq 'svg') { set terminal svg size 900,540 background 'white' }
  if (format eq 'png') { set terminal png size 900,540 }
  set output 'progress.'.format
  plot 0 with lines lw 2 lc rgb '#888888' title 'search without value function', \
       $data using 1:4 with lines lw 2 lc rgb '#d95f02' title 'Q_{phi} alone', \
       $data using 1:3 with lines lw 2 lc rgb '#1b6ca8' title 'Q_{phi} + inference')";
  const bool has_telescoped =
      std::any_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.counts[3] > 0; });
  if (has_telescoped)
    script += R"(, \
       $data using 1:5 with lines lw 2 lc rgb '#1b9e77' title 'Q_{phi} telescoped + search')";
  if (has_loss)
    script += R"(, \
       $data using 1:2 axes x1y2 with lines dt 2 lc rgb '#444444' title 'loss (right)')";
  return script + "\n}\n";
}

}  // namespace

ProgressFile::ProgressFile(const std::filesystem::path& path, std::int64_t num_rows) : path_(path) {
  std::string kept = kHeader;
  if (num_rows > 0 && std::filesystem::exists(path)) {
    const std::string old = read_file(path);
    std::size_t end = 0;
    for (std::int64_t line = 0; line <= num_rows && end < old.size(); ++line) {
      end = std::min(old.find('\n', end), old.size() - 1) + 1;
    }
    if (old.starts_with(kHeader)) kept = old.substr(0, end);
  }
  write_file_atomically(path, kept);
  stream_.open(path, std::ios::app);
}

void ProgressFile::append(const EpisodeRecord& record) {
  const Measurements& measured = record.measured;
  stream_ << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", record.episode, record.problem, record.version,
                         record.steps, loss_cell(record.loss), record.num_rows, cell(measured.delta_kl),
                         cell(measured.delta_kl_phi), cell(measured.delta_kl_plain), cell(measured.delta_kl_telescoped),
                         cell(measured.bellman_residual), cell(measured.log_z));
  stream_.flush();
  if (!stream_) throw Error(ErrorCode::kWrite, fmt::format("{}: cannot be written", path_.string()));
}

bool draw_progress(const std::filesystem::path& csv) {
  const std::vector<Block> blocks = read_blocks(csv);
  if (blocks.empty()) return false;
  return draw_figure(csv.parent_path(), "progress", gnuplot_script(blocks));
}

}  // namespace treesample
