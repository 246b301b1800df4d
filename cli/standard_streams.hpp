// Standard output and standard error as a program may find them: closed, full, a pipe that nobody reads.
#pragma once

#include <string>

namespace treesample::cli {

// To be called before anything else: a closed descriptor would be reused by the next file that is opened, so that
// messages might end up in a journal. Closed standard input and error become /dev/null. From then on a pipe without a
// reader is a write error and does not end the program.
void open_standard_streams();

// Throws Error (kWrite) when standard output is closed, cannot be written to, or is a file on a full disk. To be called
// before the work.
void check_output();

// As flush_output(), but an error is thrown only by a later flush_output().
void flush_early();

// Writes everything that was printed. Throws Error (kWrite) when that fails now or has failed before.
void flush_output();

// Prints to standard error. Errors are ignored.
void say(const std::string& text);

}  // namespace treesample::cli
