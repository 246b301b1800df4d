// The end of the program, without tidying up: a model of 400,000 variables takes as long to be destroyed as to be read.
#pragma once

namespace treesample::cli {

// Ends the program, whose output is written, with this exit code; nothing that still lives is destroyed. What others
// would miss, such as children, journals and leases, is closed before. Returns the code in builds that look for memory
// that was lost.
int end_program(int code);

}  // namespace treesample::cli
