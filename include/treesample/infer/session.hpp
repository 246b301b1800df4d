// A model that is compiled once: evidence is set and taken back by name, and answers come in microseconds.
//
//   treesample::Session session(treesample::read_input("asia.bif").model);
//   session.observe("xray", "yes").observe("dysp", "yes");
//   session.log_z();                     // certified bounds
//   session.marginal("lung");            // the probabilities of its states
//   session.retract("dysp").marginal("lung");
//
// It is an elimination that is kept (exact/kept_elimination.hpp). Where numbers of the model are too small or too large
// for it, infer() answers instead, which takes longer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/infer/infer.hpp"
#include "treesample/math/log_bounds.hpp"
#include "treesample/model/approximation.hpp"

namespace treesample {

class Session {
 public:
  // Begins with the evidence of the model, of which it keeps a copy. Throws Error: kArgument for functions, kResource
  // where the model is too large to be eliminated.
  explicit Session(const Model& model);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // What was known of the variable before is forgotten. Throw Error (kArgument) for unknown names and states, with
  // those that were probably meant, and for weights that are not allowed.
  Session& observe(std::string_view variable, std::string_view state);
  Session& observe_soft(std::string_view variable, const std::vector<double>& weights);  // one per state
  Session& retract(std::string_view variable);
  Session& retract();  // all that is known

  // Certified; both bounds are -inf where what is known is impossible. In a Bayesian network it is the logarithm of the
  // probability of what is known.
  [[nodiscard]] LogBounds log_z();
  // By state, given what is known; empty where that is impossible.
  [[nodiscard]] std::vector<double> marginal(std::string_view variable);
  // [variable][state]; empty where that is impossible.
  [[nodiscard]] const Marginals& marginals();
  // What is known, as text: "xray=yes, smoke~0.8,0.2".
  [[nodiscard]] std::string evidence_text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace treesample
