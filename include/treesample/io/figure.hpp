// Pictures made by gnuplot.
#pragma once

#include <filesystem>
#include <string>

namespace treesample {

// Writes NAME.gp into the folder and lets gnuplot make NAME.svg and NAME.png from it; the script names both without a
// folder. A picture is never half-written. Returns false if gnuplot is not installed or refuses the script. Older
// pictures of that name are then removed, because they must not pass for new ones. Throws Error (kWrite) if a file or a
// picture cannot be written, and then leaves older files as they are.
bool draw_figure(const std::filesystem::path& folder, const std::string& name, const std::string& script);

}  // namespace treesample
