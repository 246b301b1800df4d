#include "program_end.hpp"

#include <unistd.h>

#include <cstdio>

namespace treesample::cli {

int end_program(int code) {
  std::fflush(stderr);
#if !defined(TREESAMPLE_CHECKED)
  ::_exit(code);
#endif
  return code;
}

}  // namespace treesample::cli
