// Whole files: read with a limit, written so that a reader never sees half of one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace treesample {

inline constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 30;
// Of a pipe or a device, whose size is not known beforehand and may have no end.
inline constexpr std::int64_t kMaxStreamBytes = std::int64_t{1} << 26;

// The contents, byte for byte. Pipes and devices are read to their end. Throws kIo when the file is
// missing, a directory, a socket or unreadable, and kResource when it holds more than `max_bytes`, or is no regular
// file and gives more than kMaxStreamBytes.
std::string read_file(const std::filesystem::path& path, std::int64_t max_bytes = kMaxFileBytes);

// Writes beside the target and renames, so that after a failure (kWrite: no such folder, no permission,
// disk full) an older file of that name is still whole and nothing is left behind. A link is
// followed; a target that is no regular file (a pipe, a terminal) is written to directly.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

// Throws kWrite, as write_file_atomically would, when the file cannot be written or the disk has no room for a single
// block; leaves nothing behind. For asking before work whose result goes there.
void check_writable(const std::filesystem::path& path);

}  // namespace treesample
