// Standard output and standard error as a program may find them: closed, full, a pipe that nobody reads.
#pragma once

#include <string>

namespace treesample::cli {

// Before anything else: a closed descriptor would be given to the next file that is opened, so that messages end up
// in a journal. Closed standard input and error become /dev/null. A pipe without a reader is an error of writing
// from here on, not the end of the program.
void open_standard_streams();

// Throws Error (kWrite) when standard output is closed, cannot be written to, or is a file on a full disk: better now
// than after the work.
void check_output();

// The same as flush_output(), which throws later what cannot be written now.
void flush_early();

// Everything printed is written now. Throws Error (kWrite) when it, or anything printed before, was not.
void flush_output();

// To standard error. What cannot be written there has nowhere else to go.
void say(const std::string& text);

}  // namespace treesample::cli
