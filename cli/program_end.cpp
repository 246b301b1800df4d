#include "program_end.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "terminal.hpp"

namespace treesample::cli {

int end_program(int code) {
  std::fflush(stderr);
#if !defined(TREESAMPLE_CHECKED)
  ::_exit(code);
#endif
  return code;
}

}  // namespace treesample::cli

#if !defined(TREESAMPLE_CHECKED)
// Once the user has asked for the end no memory is given back. Searches, tables and reduced models of many small pieces
// are destroyed before the answer is shown, and putting these pieces in order again takes most of that time.
void* operator new(std::size_t bytes) {
  for (;;) {
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory) noexcept {
  if (!treesample::cli::Interruption::is_asked()) std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }
#endif
