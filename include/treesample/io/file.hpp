// Reads whole files with a limit, and writes them so that a reader never sees half of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace treesample {

inline constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 30;
// The limit for a pipe or a device, whose size is not known beforehand and may be infinite.
inline constexpr std::int64_t kMaxStreamBytes = std::int64_t{1} << 26;

// The contents, byte for byte. Pipes and devices are read to their end. Throws kIo if the file is missing, a directory,
// a socket or unreadable. Throws kResource if it has more than `max_bytes`, or if it is not a regular file and yields
// more than kMaxStreamBytes.
std::string read_file(const std::filesystem::path& path, std::int64_t max_bytes = kMaxFileBytes);

// Writes a temporary file in the same folder and renames it. So after a failure (kWrite: no such folder, no permission,
// disk full) an older file of that name is still intact and nothing is left behind. A link is followed. A target that
// is not a regular file (a pipe, a terminal) is written to directly.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

// Throws kWrite, as write_file_atomically would, if the file cannot be written or the disk has no room for a single
// block. Leaves nothing behind. Call it before long work whose result goes there.
void check_writable(const std::filesystem::path& path);

}  // namespace treesample
