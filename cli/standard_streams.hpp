// Deals with standard output and standard error in every state in which a program may find them: closed, full, or a
// pipe that nobody reads.
#pragma once

#include <string>

namespace treesample::cli {

// Call it first of all: the next file that is opened would reuse a closed descriptor, and messages might end up in a
// journal. Closed standard input and error become /dev/null. From then on a pipe without a reader is a write error and
// does not end the program.
void open_standard_streams();

// Call it before the work. Throws Error (kWrite) if standard output is closed, cannot be written to, or is a file on a
// full disk.
void check_output();

// Like flush_output(), but an error is thrown only by a later flush_output().
void flush_early();

// Writes everything that was printed. Throws Error (kWrite) if that fails now or has failed before.
void flush_output();

// Prints to standard error. Errors are ignored.
void say(const std::string& text);

}  // namespace treesample::cli
