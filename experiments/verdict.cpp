#include "verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "plot.hpp"
#include "statistics.hpp"

namespace treesample::experiments {
namespace {

struct Place {
  std::string title;
  Summary summary;
};

std::vector<Place> ranked(const std::vector<MethodErrors>& methods, std::size_t budget) {
  std::vector<Place> places;
  for (const MethodErrors& method : methods) {
    if (!method.errors[budget].empty()) places.push_back({method.title, summarize(method.errors[budget])});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.summary.mean < b.summary.mean; });
  return places;
}

// The first one, and those that cannot be distinguished from it.
std::vector<std::string> winners(const std::vector<Place>& places) {
  std::vector<std::string> titles;
  for (const Place& place : places) {
    const double doubt = 2.0 * std::hypot(place.summary.error, places.front().summary.error);
    const double difference = place.summary.mean - places.front().summary.mean;
    if (titles.empty() || difference <= std::max(doubt, kExact)) titles.push_back(place.title);
  }
  return titles;
}

std::string number_text(const Summary& summary) {
  if (std::abs(summary.mean) < kExact) return "0";
  return summary.error > 0.0 ? fmt::format("{:.2g} +- {:.1g}", summary.mean, summary.error)
                             : fmt::format("{:.2g}", summary.mean);
}

}  // namespace

std::string verdict(const std::vector<MethodErrors>& methods, const std::vector<std::int64_t>& budgets,
                    const std::string& unit, const std::string& measure) {
  std::string text;
  std::vector<std::string> before;
  for (std::size_t b = budgets.size(); b-- > 0;) {
    const std::vector<Place> places = ranked(methods, b);
    if (places.empty() || !std::isfinite(places.front().summary.mean)) continue;
    const std::vector<std::string> best = winners(places);
    if (best == before) continue;
    const std::string at = fmt::format("{} {}", budgets[b], unit);
    if (!before.empty()) {
      text += fmt::format(" With {}: {}.", at, fmt::join(best, ", "));
    } else if (best.size() == 1) {
      text = fmt::format("Take {}: with {} its {} is {}", best.front(), at, measure, number_text(places[0].summary));
      text += places.size() > 1 && std::isfinite(places[1].summary.mean)
                  ? fmt::format(", that of {}, the next, {}.", places[1].title, number_text(places[1].summary))
                  : ".";
    } else {
      text = fmt::format("With {} these runs do not tell {} apart ({} {}); any of them will do.", at,
                         fmt::join(best, ", "), measure, number_text(places[0].summary));
    }
    before = best;
  }
  return text;
}

}  // namespace treesample::experiments
