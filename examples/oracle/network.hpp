// The simulator of simulator.py in C++: log-likelihood of observed test packets, given which links are up.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace network {

struct Link {
  const char* name;
  int from, to;  // routers A to F, numbered 0 to 5
};
inline constexpr std::array<Link, 8> kLinks = {
    {{"ab", 0, 1}, {"ac", 0, 2}, {"bc", 1, 2}, {"bd", 1, 3}, {"ce", 2, 4}, {"de", 3, 4}, {"df", 3, 5}, {"ef", 4, 5}}};

struct Probe {
  int from, to, num_sent, num_arrived;
};
inline constexpr std::array<Probe, 3> kProbes = {{{0, 5, 20, 17}, {1, 4, 20, 20}, {0, 3, 20, 18}}};

// Routers that can be reached from `start` over the links of a bit set, as a bit set.
inline unsigned reachable(unsigned links, int start) {
  unsigned reached = 1U << start;
  for (unsigned before = 0; reached != before;) {
    before = reached;
    for (std::size_t l = 0; l < kLinks.size(); ++l) {
      const unsigned ends = (1U << kLinks[l].from) | (1U << kLinks[l].to);
      if ((links >> l & 1U) != 0 && (reached & ends) != 0) reached |= ends;
    }
  }
  return reached;
}

// One state per link, in the order of kLinks: 0 is up, 1 is down.
inline double log_likelihood(std::span<const int> states) {
  constexpr int kTrials = 100'000;  // some milliseconds
  constexpr double kLoss = 0.15;
  unsigned up = 0;
  for (std::size_t l = 0; l < kLinks.size(); ++l) up |= static_cast<unsigned>(states[l] == 0) << l;
  std::mt19937 random(up);  // the seed depends only on the states, so the same question always has the same answer
  std::array<int, kProbes.size()> num_connected = {};
  for (int trial = 0; trial < kTrials; ++trial) {
    unsigned alive = up;
    for (std::size_t l = 0; l < kLinks.size(); ++l) {
      if (random() < kLoss * 4294967296.0) alive &= ~(1U << l);
    }
    for (std::size_t i = 0; i < kProbes.size(); ++i) {
      num_connected[i] += static_cast<int>(reachable(alive, kProbes[i].from) >> kProbes[i].to & 1U);
    }
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < kProbes.size(); ++i) {
    const auto& [from, to, num_sent, num_arrived] = kProbes[i];
    if ((reachable(up, from) >> to & 1U) == 0) {
      if (num_arrived > 0) return -std::numeric_limits<double>::infinity();  // packets arrived without a path
      continue;
    }
    const double p = (num_connected[i] + 0.5) / (kTrials + 1.0);
    sum += num_arrived * std::log(p) + (num_sent - num_arrived) * std::log1p(-p);
  }
  return sum;
}

}  // namespace network
