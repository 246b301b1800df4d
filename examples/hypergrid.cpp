// The hypergrid of the GFlowNet papers as a program of one's own (docs/programs.md): a walk from a corner of a grid
// that may stop anywhere.
#include <treesample/program/infer_program.hpp>

#include <array>
#include <cmath>
#include <iostream>

struct Hypergrid {
  static constexpr int kDimensions = 4, kHeight = 8;
  using State = std::array<int, kDimensions + 1>;  // a place, and 1 where the walk has stopped

  State start() const { return {}; }
  bool is_end(const State& s) const { return s.back() == 1; }
  void actions(const State& s, auto&& emit) const {  // emit(number of the action, next state)
    for (int d = 0; d < kDimensions; ++d) {
      State next = s;
      if (++next[d] < kHeight) emit(d, next);
    }
    State next = s;
    next.back() = 1;
    emit(kDimensions, next);
  }
  double reward(const State& s) const {  // the LOG reward of an end
    bool is_outer = true, is_mode = true;
    for (int d = 0; d < kDimensions; ++d) {
      const double far = std::abs(s[d] / (kHeight - 1.0) - 0.5);
      is_outer = is_outer && far > 0.25;
      is_mode = is_mode && far > 0.3 && far < 0.4;
    }
    return std::log(1e-3 + 0.5 * is_outer + 2.0 * is_mode);
  }
};

int main() {
  treesample::HashedProgram<Hypergrid> grid;  // numbers the states
  const treesample::ProgramAnswer exact = treesample::infer_program(grid, {.samples = 3});
  std::cout << "log Z " << *exact.estimate << ", exact: " << exact.is_exact << ", " << exact.spent.calls
            << " rewards\n";
  const auto show = [&](const treesample::ProgramPath& path) {
    for (int d = 0; d < Hypergrid::kDimensions; ++d) std::cout << ' ' << grid.state(path.end())[d];
    std::cout << ", log prob " << path.log_prob << '\n';
  };
  std::cout << "best  ";
  show(*exact.best);
  for (const treesample::ProgramPath& sample : exact.samples) {
    std::cout << "sample";
    show(sample);
  }

  // 300 rewards; what is believed of all objects, as its total variation distance from the truth.
  treesample::HashedProgram<Hypergrid> again;
  const treesample::ProgramAnswer few = treesample::infer_program(again, {}, {.calls = 300});
  double distance = 0.0;
  few.distribution->for_each_end([&](treesample::StateId end, double probability) {
    distance += 0.5 * std::abs(probability - std::exp(again.program().reward(again.state(end)) - *exact.estimate));
  });
  std::cout << few.spent.calls << " rewards: bounds hold: " << (few.log_z.lower <= *exact.estimate)
            << ", distance below 0.2: " << (distance < 0.2) << '\n';
}
