#include "paper_cells.hpp"

#include "experiments/paper_setup.hpp"

namespace treesample::experiments {

std::optional<PaperCell> paper_cell(const std::string& family, Contender method) {
  struct Row {
    Contender method;
    std::optional<PaperCell> cells[4];
  };
  static const Row rows[] = {
      {Contender::kSis, {{{11.61, 1.74}}, {{9.23, 0.34}}, {{-21.97, 2.47}}, {{-31.70, 2.32}}}},
      {Contender::kSmc, {{{1.94, 0.48}}, {{7.08, 0.36}}, {{-24.09, 2.85}}, {{-35.90, 2.47}}}},
      {Contender::kGibbs, {std::nullopt, std::nullopt, {{-18.67, 1.80}}, {{-25.12, 1.48}}}},
      {Contender::kBp, {std::nullopt, std::nullopt, {{-21.50, 0.18}}, {{-31.48, 0.48}}}},
      {Contender::kTree, {{{0.53, 0.17}}, {{3.41, 0.41}}, {{-28.89, 1.94}}, {{-38.70, 2.29}}}},
  };
  for (const Row& row : rows) {
    for (std::size_t f = 0; f < kPaperFamilies.size(); ++f) {
      if (row.method == method && kPaperFamilies[f] == family) return row.cells[f];
    }
  }
  return std::nullopt;
}

}  // namespace treesample::experiments
