// For files of an answer that cannot be written: the rest of the answer is still shown, and then the error is thrown.
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
  // The same for work that writes a file of this name. Does nothing if there is no name, or if it stands for standard
  // output.
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
