// What the rows of the tables do (phases.hpp), by the file that has it.
#pragma once

#include "infer/phases.hpp"

namespace treesample {

using PhaseVerb = void(Findings& found, const Task& task, const PhaseClock& clock);

// method_elimination.cpp
PhaseVerb eliminate, eliminate_for_marginals, eliminate_for_best;
// method_count.cpp
PhaseVerb count_instead, count_as_formula, count_zeros;
// count_beside.cpp
PhaseVerb begin_counting;
// leaves.cpp
PhaseVerb set_up_tree, set_up_mass, set_up_search;
// method_gap_search.cpp
PhaseVerb find_first, eliminate_log_z, add_sliced_marginals, search_between_bounds, sum_joint_states, anneal,
    weigh_samples;
// method_tree_search.cpp
PhaseVerb search_tree, read_tree;
// method_mass_search.cpp
PhaseVerb search_by_mass, read_mass;
// method_baselines.cpp, method_annealing.cpp
PhaseVerb look_for_one, run_particle_filter, run_gibbs, sample_by_decimation, propagate_beliefs, run_metropolis,
    run_frequencies, run_annealing;
// call_methods.cpp, by way of calls/method_learned.cpp and calls/method_monotone.cpp
PhaseVerb run_learned, run_monotone;
// finish.cpp
PhaseVerb search_instead, state_first_bounds, state_paid_values, bound_by_factors, bound_as_network, bound_by_best;
// noise_check.cpp
PhaseVerb check_noise;
// samples.cpp
PhaseVerb weigh_answer, draw_samples;

}  // namespace treesample
