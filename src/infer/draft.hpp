// An answer in the making: in terms of the reduced model that the methods see. What follows from statements, such as
// bounds, marginals and the best configuration, is hidden here: methods state it (known), and answer() derives it.
#pragma once

#include <memory>
#include <string>

#include "infer/knowledge.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {

class Draft : private Answer {
 public:
  Knowledge known;

  using Answer::approximation, Answer::sampler_divergence;
  using Answer::importance, Answer::sampled_interval, Answer::bounded_importance, Answer::unexplored_mass,
      Answer::evaluated;
  using Answer::method, Answer::stop, Answer::error, Answer::spent, Answer::seconds, Answer::plan;
  using Answer::program_counts, Answer::calls, Answer::simplified, Answer::num_variables_left, Answer::num_factors_left;
  using Answer::samples, Answer::sample_log_probs, Answer::sample_log_densities, Answer::has_exact_samples;

  bool has_repeated = false;    // functions were evaluated again, to see whether they are noisy
  bool has_importance = false;  // the approximation covers the support, so importance sampling makes sense
  bool is_cut_off = false;      // log Z is exact, but the memory did not hold all that samples are drawn from
  std::shared_ptr<const SearchApproximation> exact_sampler;  // samples are drawn from it by rejection; may be null
  std::shared_ptr<const SummedModel> summed;                 // the model of exact_sampler; null: the whole model

  // From samples of this kind, with their errors where these are known.
  void set_sampled_marginals(const BoundedImportance& sampled, const std::string& kind);
  // From the model that was solved to one whose log densities are off by at most this.
  void widen(double log_error);
  // The values of the functions are noisy: nothing that rests on them is certified or has an error.
  void doubt(const std::string& why);
  // Everything that follows.
  [[nodiscard]] Answer answer(bool has_programs = false) &&;

 private:
  void judge_programs();
};

}  // namespace treesample
