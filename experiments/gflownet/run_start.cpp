#include "experiments/gflownet/run_start.hpp"

#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {

std::vector<double> remembered(const RunStart& start, std::vector<double> elsewhere) {
  for (std::size_t i = 0; i < start.seen.ends().size(); ++i) {
    elsewhere[start.truth->place(start.seen.ends()[i])] = start.seen.log_rewards()[i];
  }
  return elsewhere;
}

std::vector<double> network_weights(FlowNetwork& network, const FlowTruth& truth) {
  std::vector<double> log_weights(truth.ends().size(), kNegInf);
  const double log_z = network.log_z();
  for (const auto& [end, probability] : end_probabilities(network)) {
    log_weights[truth.place(end)] = log_z + std::log(probability);
  }
  return log_weights;
}

Judged judge_built(FlowNetwork& network, double true_log_z, std::uint64_t seed) {
  Random random(seed, "judge");
  std::vector<std::pair<double, double>> samples;
  for (int i = 0; i < kJudgedSamples; ++i) {
    const auto [end, log_p] = network.build(random);
    double log_reward = 0.0;
    network.program().states().rewards({&end, 1}, {&log_reward, 1});
    samples.emplace_back(log_p, log_reward);
  }
  return judge_samples(samples, true_log_z, network.log_z());
}

}  // namespace treesample::experiments
