// A report of an experiment as a page to look at (treesample/page/answer_page.hpp).
#pragma once

#include <string>

#include "experiments/report.hpp"

namespace treesample::cli {

std::string report_page(const experiments::Report& report);

}  // namespace treesample::cli
