// What a question adds to a model: soft evidence as factors, and for each joint query over variables S a variable J
// whose state is the number of the configuration of S,
//
//   psi(x_S, j) = 0 where j is the number of x_S, else -inf.
//
// Z and all densities stay the same, and the marginal of J is the joint distribution of S, with the accuracy of
// whichever method computes it. Where elimination does not fit, J is barren, so that no bound gets worse. Methods that
// only sample gain nothing from J, and Gibbs sampling could not change it: for them joint queries are answered by
// frequencies of samples.
#pragma once

#include <vector>

#include "treesample/infer/answer.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

class AskedModel {
 public:
  // Throws OptionError for a meaningless query. The model must outlive the object.
  AskedModel(const Model& model, const InferRequest& request);

  [[nodiscard]] const Model& model() const { return added_ ? *added_ : original_; }
  [[nodiscard]] int num_original() const { return original_.graph.num_variables(); }
  // The question about model(); samples are shown without the added variables.
  [[nodiscard]] Question question() const;
  // Translates an answer for model() to the original model, and answers the queries.
  [[nodiscard]] Answer answered(Answer answer) const;
  // Answers joint queries that have no variable of their own, from samples; until `should_stop`.
  void add_frequencies(Answer& answer, std::uint64_t seed, const ShouldStop& should_stop) const;

  struct Query {
    std::vector<int> variables;
    std::vector<int> num_states;
    int joint = -1;  // the variable J; -1 for a query of one variable, and where samples answer
  };

 private:
  void add_joint(Query& query, bool has_variable);

  const Model& original_;
  Question question_;
  std::optional<Model> added_;
  std::vector<Query> queries_;
};

}  // namespace treesample
