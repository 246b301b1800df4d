// Files of an answer that cannot be written: what is left of the answer is shown all the same, and then the error.
#pragma once

#include <optional>
#include <string>

#include "treesample/error.hpp"

namespace treesample::cli {

class Unwritten {
 public:
  template <class Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      if (!first_) first_.emplace(error);
    }
  }
  // The same for work that writes a file of this name, unless there is none or it is that of standard output.
  template <class Work>
  void write(const std::string& name, const Work& work) {
    if (!name.empty() && name != "-") attempt(work);
  }
  [[nodiscard]] bool is_any() const { return first_.has_value(); }
  // Throws the first error, if any.
  void rethrow() const {
    if (first_) throw Error(*first_);
  }

 private:
  std::optional<Error> first_;
};

}  // namespace treesample::cli
