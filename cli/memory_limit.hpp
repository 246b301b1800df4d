// --memory for the program as a whole.
#pragma once

#include <cstddef>
#include <cstdint>

namespace treesample::cli {

// Beyond the given memory the program may have this much: its code, its libraries, and what every model takes.
inline constexpr std::size_t kOwnMemory = std::size_t{64} << 20;

// From now on the system refuses memory beyond this many bytes and kOwnMemory, whatever asks for it; the programs of a
// model, which are processes of their own, are not concerned. Methods plan with less, so that it seldom comes to that.
// Threads (0: one per core), and those of workers, have stacks, of which hardly anything is used.
void keep_to_memory(std::size_t bytes, int num_threads = 1, std::int64_t num_workers = 0);

// What to say where the system has refused.
const char* refused_memory_text();

}  // namespace treesample::cli
