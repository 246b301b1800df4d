// A question in terms of the model: soft evidence as factors, and queries by name as variables.
#pragma once

#include <optional>
#include <vector>

#include "treesample/infer/answer.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {

class AskedModel {
 public:
  // Throws OptionError for a meaningless query, and for a joint one whose table does not fit into the memory. The model
  // must outlive the object.
  AskedModel(const Model& model, const InferRequest& request);

  [[nodiscard]] const Model& model() const { return with_soft_ ? *with_soft_ : original_; }
  // The variables of each query.
  [[nodiscard]] const std::vector<std::vector<int>>& queries() const { return queries_; }
  [[nodiscard]] bool has_joint() const;
  // With the queries: those of one variable from the marginals, others from what is known of them, [query][joint
  // state].
  [[nodiscard]] Answer answered(Answer answer, const std::vector<std::vector<double>>& joints = {}) const;

 private:
  const Model& original_;
  std::optional<Model> with_soft_;
  std::vector<std::vector<int>> queries_;
};

}  // namespace treesample
