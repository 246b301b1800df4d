// Cases whose answers follow from sums that they share (treesample/exact/many_cases.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "infer/run.hpp"
#include "treesample/exact/many_cases.hpp"
#include "treesample/infer/answer.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/io/evidence_file.hpp"

namespace treesample {

class SharedCases {
 public:
  // Null where more is asked than log Z and probabilities, or where an option is given that asks for another way.
  static std::unique_ptr<SharedCases> make(const Model& model, const InferRequest& request, const Run& run);

  // False when the run has ended meanwhile: none of the cases is answered then.
  bool solve(std::span<const Case> cases);
  // True if all of the last cases are answered.
  [[nodiscard]] bool has_all() const;
  // Of one of the last cases; null where it has to be asked by itself. Valid until the next call.
  const Answer* answer(std::size_t index);

 private:
  SharedCases(const Model& model, const InferRequest& request, const Run& run, ManyCasesOptions options);
  [[nodiscard]] bool is_regular(const Observations& seen) const;

  const Model& model_;
  Run run_;
  std::vector<std::vector<int>> asked_;
  bool has_queries_ = false, is_network_ = false;
  ManyCases sums_of_;
  std::vector<Observations> observed_;  // of the last cases, with what the model has
  std::vector<char> is_regular_;
  std::vector<CaseSums> sums_;
  std::vector<double> probabilities_;
  Answer answer_;
};

}  // namespace treesample
