// Pictures made by gnuplot.
#pragma once

#include <filesystem>
#include <string>

namespace treesample {

// Writes NAME.gp into the folder and lets gnuplot make NAME.svg and NAME.png of it; the script names both without a
// folder. Pictures appear as wholes. False when gnuplot is not installed or refuses the script: pictures of that name
// are then removed, because those of an earlier run must not pass for new ones. Throws Error (kWrite) when a file
// cannot be written, a picture included, and leaves older files as they are.
bool draw_figure(const std::filesystem::path& folder, const std::string& name, const std::string& script);

}  // namespace treesample
