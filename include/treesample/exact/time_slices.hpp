// Models that repeat in time: hidden Markov models, and dynamic Bayesian networks of any slice.
//
// A slice has variables and tables. Each link says that one variable of a slice is the same as another variable of the
// slice before it. With I the joint states of the linked variables and e_t what is observed in slice t,
//
//   filter    P(I_t | e_1..t)      from P(I_t-1 | e_1..t-1), the tables of slice t and e_t
//   smooth    P(e_t+1..T | I_t)    from the slice behind it, by the derivative with respect to what came in
//
// Both are passes over one kept elimination (exact/kept_elimination.hpp) of a single slice: there is one order, and the
// time is proportional to the number of slices.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// `before` of a slice is `now` of the slice before it.
struct TimeLink {
  int before = 0, now = 0;
};

struct TimeModel {
  FactorGraph slice;
  std::vector<TimeLink> links;
  std::vector<Factor> start = {};  // tables over variables `before` of the first slice; without any it is free
};

// What is known after some slices.
struct SliceAnswer {
  double log_z = 0.0;   // of all slices so far
  Marginals marginals;  // of the variables of this slice
};

class TimeSlices {
 public:
  // Throws Error: kArgument for links that are no pairs of different variables with the same states, for start tables
  // over other variables and for functions, kResource where a slice is too large.
  explicit TimeSlices(TimeModel model);
  ~TimeSlices();
  TimeSlices(TimeSlices&&) noexcept;
  TimeSlices& operator=(TimeSlices&&) noexcept;

  // Goes back to the time before the first slice.
  void reset();
  // One more slice, given this and all before. log_z is -inf, and there are no marginals, where that is impossible.
  SliceAnswer step(const Observations& seen);
  [[nodiscard]] int num_steps() const;

  // Each slice given what was observed in all of them; log_z is that of all. Throws Error: kArgument where that is
  // impossible, kInterrupted.
  std::vector<SliceAnswer> smooth(std::span<const Observations> seen, const ShouldStop& should_stop = {});

  // The whole model of so many slices: variable v of slice t is variable t * n + v, with the names of the slice and
  // "@t" from 1 on. Linked variables of later slices are in it once, as `now`: their own number has one state and no
  // table.
  [[nodiscard]] FactorGraph unrolled(int num_slices) const;
  // Where a variable of a slice is in the whole model.
  [[nodiscard]] int place(int slice, int variable) const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace treesample
