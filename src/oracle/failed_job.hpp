// What is said of a job that has no value.
#pragma once

#include <exception>
#include <string>

#include "oracle/oracle.hpp"

namespace treesample {

// The error of a job that is given up on: the last failure, with a description of the job.
Error final_error(const std::exception_ptr& failure, const std::string& subject, int num_failures);

// What is wrong with a value or its witness; empty if nothing is.
std::string value_problem(const Evaluation& value, std::size_t scope_size);

}  // namespace treesample
