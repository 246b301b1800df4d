#include "treesample/io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kChunkBytes = 1 << 16;
constexpr std::size_t kBlockBytes = 1 << 12;

[[noreturn]] void throw_read(const fs::path& path, int error) {
  throw Error(ErrorCode::kIo,
              fmt::format("{}: cannot be read: {}", path.string(), std::generic_category().message(error)));
}

[[noreturn]] void throw_write(const fs::path& path, int error) {
  throw Error(ErrorCode::kWrite,
              fmt::format("{}: cannot be written: {}", path.string(), std::generic_category().message(error)));
}

// An open file, closed by its destructor.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // Some file systems report a full disk only when the file is closed.
  [[nodiscard]] bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

void write_all(File file, const fs::path& path, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(file.descriptor(), contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_write(path, errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!file.close()) throw_write(path, errno);
}

// Creates a new file next to the target; O_EXCL makes sure that no other thread or process uses it.
std::pair<File, fs::path> create_beside(const fs::path& target) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    fs::path path = target;
    path += fmt::format(".{}-{}.tmp", ::getpid(), attempt);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return {File(descriptor), path};
    if (errno != EEXIST) throw_write(target, errno);
  }
  throw_write(target, EEXIST);
}

}  // namespace

std::string read_file(const fs::path& path, std::int64_t max_bytes) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0) throw_read(path, errno);
  const bool is_regular = S_ISREG(status.st_mode);
  if (!is_regular) max_bytes = std::min(max_bytes, kMaxStreamBytes);
  const auto check_size = [&](std::int64_t bytes) {
    if (bytes > max_bytes) {
      throw Error(ErrorCode::kResource, fmt::format("{}: too large to be read, allowed are {} bytes{}", path.string(),
                                                    max_bytes, is_regular ? "" : " of what is no regular file"));
    }
  };
  if (is_regular) check_size(status.st_size);
  std::string contents;
  std::size_t room = kChunkBytes + (is_regular ? static_cast<std::size_t>(status.st_size) : 0);
  for (std::size_t used = 0;; room = kChunkBytes) {
    contents.resize(used + room);
    const ssize_t received = ::read(file.descriptor(), contents.data() + used, room);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0) throw_read(path, errno);
    used += static_cast<std::size_t>(received);
    check_size(static_cast<std::int64_t>(used));
    contents.resize(used);
    if (received == 0) return contents;
  }
}

void check_writable(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw_write(path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (::access(path.c_str(), W_OK) != 0) throw_write(path, errno);
    return;
  }
  auto [file, temporary] = create_beside(fs::exists(status) ? fs::canonical(path, ignored) : path);
  try {
    // On a full disk an empty file can still be created, but no byte can be written to it.
    write_all(std::move(file), path, std::string(kBlockBytes, '\0'));
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  ::unlink(temporary.c_str());
}

void write_file_atomically(const fs::path& path, std::string_view contents) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) throw_write(path, errno);
    write_all(File(descriptor), path, contents);
    return;
  }
  const fs::path target = fs::exists(status) ? fs::canonical(path, ignored) : path;
  auto [file, temporary] = create_beside(target);
  try {
    write_all(std::move(file), path, contents);
    if (::rename(temporary.c_str(), target.c_str()) != 0) throw_write(path, errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace treesample
