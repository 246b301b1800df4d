#include "program_end.hpp"

#include <malloc.h>
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
// When the program is about to end, small pieces of memory are no longer freed: searches and reduced models have
// millions of them, and are destroyed before the answer is shown. Large pieces are still freed, because the remaining
// work reuses them, and new memory takes longer than used memory.
void* operator new(std::size_t bytes) {
  for (;;) {
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

constexpr std::size_t kLargePiece = 4096;

void operator delete(void* memory) noexcept {
  if (!treesample::cli::Interruption::is_asked() || malloc_usable_size(memory) >= kLargePiece) std::free(memory);
}

// Does not even look at a small piece, because that would bring it into the cache.
void operator delete(void* memory, std::size_t bytes) noexcept {
  if (bytes >= kLargePiece || !treesample::cli::Interruption::is_asked()) std::free(memory);
}
#endif
