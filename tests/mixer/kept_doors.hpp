// A mixed model by the doors in which something is kept: sums between questions, clauses as they are, a network in
// which variables are set.
#pragma once

#include <string>
#include <vector>

#include "mixer/draw.hpp"
#include "mixer/judge.hpp"

namespace treesample::mixer {

// Evidence and weights that come and go, in several lanes; and the same as cases.
void by_session(const MixedCase& asked, Draw& draw, Tally& tally, std::vector<std::string>& broken);
// Variables of a network that are set; nothing for other models.
void by_setting(const MixedCase& asked, Draw& draw, Tally& tally, std::vector<std::string>& broken);
// A formula of its own: counted exactly, and asked as a model.
void by_formula(const MixedCase& asked, Draw& draw, Tally& tally, std::vector<std::string>& broken);

}  // namespace treesample::mixer
