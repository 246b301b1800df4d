// The hypergrid of the GFlowNet literature (Bengio et al. 2021): places in a cube of D dimensions with H values each,
// and two modes in each of its 2^D corners.
//
//   R(x) = r0 + r1 [all 0.25 < c_i] + r2 [all 0.3 < c_i < 0.4],     c_i = |x_i / (H - 1) - 1/2|
//
// A walk begins at 0, adds 1 to one coordinate at a time (action i), and stops anywhere (action D).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/program/environments/json_list.hpp"

namespace treesample {

template <int D>
class Hypergrid {
 public:
  using State = std::array<std::int16_t, D + 1>;  // the coordinates, and 1 where the walk has stopped

  explicit Hypergrid(int height, double r0 = 1e-3, double r1 = 0.5, double r2 = 2.0)
      : height_(height), r0_(r0), r1_(r1), r2_(r2) {
    check_range("Hypergrid", "height", height, 2, 1 << 14);
    check_argument(r0 > 0.0 && r1 >= 0.0 && r2 >= 0.0 && std::isfinite(r0 + r1 + r2), "Hypergrid",
                   "allowed are r0 above 0 and r1, r2 from 0");
  }

  static State start() { return {}; }
  static bool is_end(const State& s) { return s[D] == 1; }
  void actions(const State& s, auto&& emit) const {
    State next = s;
    for (int i = 0; i < D; ++i) {
      if (s[i] + 1 >= height_) continue;
      ++next[i];
      emit(i, next);
      --next[i];
    }
    next[D] = 1;
    emit(D, next);
  }
  [[nodiscard]] double reward(const State& s) const {
    bool is_outer = true, is_mode = true;
    for (int i = 0; i < D; ++i) {
      const double centred = std::abs(s[i] / static_cast<double>(height_ - 1) - 0.5);
      is_outer &= centred > 0.25;
      is_mode &= centred > 0.3 && centred < 0.4;
    }
    return std::log(r0_ + (is_outer ? r1_ : 0.0) + (is_mode ? r2_ : 0.0));
  }
  static std::vector<int> encode(const State& s) { return {s.begin(), s.end() - 1}; }
  static std::string text(const State& s) { return json_list(std::span(s).first(D)); }
  static std::string action_text(const State&, int action) {
    return action == D ? "stop" : "up " + std::to_string(action);
  }

  // What trainers need besides.
  static int num_actions() { return D + 1; }
  [[nodiscard]] int num_values() const { return height_; }
  void parents(const State& s, auto&& emit) const {
    State parent = s;
    if (is_end(s)) {
      parent[D] = 0;
      emit(D, parent);
      return;
    }
    for (int i = 0; i < D; ++i) {
      if (s[i] == 0) continue;
      --parent[i];
      emit(i, parent);
      ++parent[i];
    }
  }

 private:
  int height_;
  double r0_, r1_, r2_;
};

}  // namespace treesample
