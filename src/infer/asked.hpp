// What a question adds to a model: soft evidence as factors, and for each joint query over S a variable J whose state
// is the number of the configuration of S,
//
//   psi(x_S, j) = 0 where j is the number of x_S, else -inf.
//
// Z and every density stay what they are, and the marginal of J is the joint distribution of S, by whatever method and
// with the errors that it has. Where elimination does not fit J is barren, so that no bound gets worse. Methods that
// only sample gain nothing from J, and Gibbs sampling could not move past it: theirs are frequencies of samples.
#pragma once

#include <vector>

#include "treesample/infer/answer.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

class AskedModel {
 public:
  // Throws OptionError for a query that makes no sense. The model must outlive it.
  AskedModel(const Model& model, const Question& question, const InferOptions& options = {});

  [[nodiscard]] const Model& model() const { return added_ ? *added_ : original_; }
  // What is asked about model(): samples are shown without what was added.
  [[nodiscard]] Question question() const;
  // An answer for model() in terms of the original one, with the queries.
  [[nodiscard]] Answer answered(Answer answer) const;
  // Joint queries without a variable of their own, from samples; until `should_stop`.
  void add_frequencies(Answer& answer, std::uint64_t seed, const ShouldStop& should_stop) const;

  struct Query {
    std::vector<int> variables;
    std::vector<int> num_states;
    int joint = -1;  // the variable that stands for them; -1 for a single one, and where samples answer
  };

 private:
  void add_joint(Query& query, bool has_variable);

  const Model& original_;
  Question question_;
  std::optional<Model> added_;
  std::vector<Query> queries_;
};

}  // namespace treesample
