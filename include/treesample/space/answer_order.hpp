// How a run uses the answers of an evaluation queue.
#pragma once

namespace treesample {

enum class AnswerOrder {
  kArrival,
  kSubmission,  // nothing depends on which answer came first, so that the run can be repeated to the bit
};

}  // namespace treesample
