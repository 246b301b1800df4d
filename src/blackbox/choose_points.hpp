// Which of many values a regression uses.
#pragma once

#include <cstddef>
#include <vector>

#include "treesample/blackbox/domain.hpp"

namespace treesample {

// All of them in their order or, where there are more than `most`, the half with the largest log densities and an even
// choice of the others.
std::vector<std::size_t> choose_points(const ToldValues& told, std::size_t most);

// Those that are not -inf.
ToldValues finite_values(const ToldValues& told);

}  // namespace treesample
