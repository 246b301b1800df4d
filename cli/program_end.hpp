// Ends the program without tidying up: a model of 400,000 variables takes as long to destroy as to read.
#pragma once

namespace treesample::cli {

// Ends the program with this exit code, after its output was written. Objects that still live are not destroyed. The
// caller must already have closed everything that other processes would miss, such as child processes, journals and
// leases. In builds that look for memory leaks it returns the code instead.
int end_program(int code);

}  // namespace treesample::cli
