#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "infer/methods.hpp"
#include "infer/option_table.hpp"
#include "treesample/infer/plan.hpp"

namespace treesample {

std::string Plan::text() const {
  std::string lines = fmt::format("method      {}\n", ways_text(way(method, select)));
  for (const std::string& reason : reasons) lines += fmt::format("because     {}\n", reason);
  for (const std::string& remark : remarks) lines += fmt::format("remark      {}\n", remark);
  for (const PlannedPhase& phase : phases) {
    lines += std::isfinite(phase.until_seconds)
                 ? fmt::format("phase       {}: until {:.3g} s at the latest\n", phase.what, phase.until_seconds)
                 : fmt::format("phase       {}\n", phase.what);
  }
  const Ways chosen = way(method, select);
  std::vector<std::string> settings;
  for (const OptionRow& row : option_rows()) {
    if ((row.ways & chosen) == 0) continue;
    if (std::string value = row.text(request); !value.empty())
      settings.push_back(fmt::format("--{} {}", row.name, value));
  }
  return lines + fmt::format("options     {}\n", fmt::join(settings, " "));
}

}  // namespace treesample
