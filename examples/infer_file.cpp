// `treesample infer FILE --time SECONDS` in C++. It prints its results with all digits.
#include <cstdio>

#include "treesample/treesample.hpp"

int main(int argc, char** argv) try {
  if (argc != 3) return std::puts("usage: infer_file MODEL SECONDS"), 64;
  const treesample::Answer answer =
      treesample::infer(treesample::read_input(argv[1]).model, {.samples = 2}, {.seconds = std::atof(argv[2])});
  std::printf("%.17g %.17g %.17g %s\n", *answer.log_z, *answer.lower, *answer.upper, to_string(answer.stop));
  std::printf("%.17g\n", answer.best->log_density);
  for (const std::vector<double>& probs : answer.marginals) {
    for (const double p : probs) std::printf("%.17g ", p);
  }
  std::printf("\n");
  for (const treesample::Assignment& sample : answer.samples) {
    for (const int state : sample) std::printf("%d ", state);
  }
  std::printf("\n");
} catch (const treesample::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
