#include "treesample/io/figure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample {
namespace {

namespace fs = std::filesystem;

// A temporary folder next to the pictures. It is removed at the end with its contents.
class DrawingFolder {
 public:
  explicit DrawingFolder(const fs::path& parent) : path_(parent / fmt::format(".drawing-{}.tmp", ::getpid())) {
    std::error_code error;
    fs::create_directory(path_, error);
    if (error) {
      throw Error(ErrorCode::kWrite, fmt::format("{}: cannot be made: {}", path_.string(), error.message()));
    }
  }
  ~DrawingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  DrawingFolder(const DrawingFolder&) = delete;
  DrawingFolder& operator=(const DrawingFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Runs gnuplot in the folder, silently, and without a shell, because names may contain any characters.
bool run_gnuplot(const fs::path& folder, std::string script) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  std::string program = "gnuplot";
  char* const arguments[] = {program.data(), script.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// gnuplot does not notice a full disk, but then the last bytes of the picture are missing.
void check_whole(const fs::path& drawn, const fs::path& target, std::string_view end) {
  std::error_code ignored;
  if (fs::exists(drawn, ignored) && read_file(drawn).find(end) != std::string::npos) return;
  throw Error(ErrorCode::kWrite, fmt::format("{}: cannot be written: gnuplot's picture is not whole", target.string()));
}

}  // namespace

bool draw_figure(const fs::path& folder, const std::string& name, const std::string& script) {
  struct Format {
    const char* extension;
    std::string_view end;  // the last bytes of a complete file
  };
  constexpr Format kFormats[] = {{".svg", "</svg>"}, {".png", "IEND"}};
  write_file_atomically(folder / (name + ".gp"), script);
  const DrawingFolder drawing(folder);
  const bool is_drawn = run_gnuplot(drawing.path(), "../" + name + ".gp");
  for (const Format& format : kFormats) {
    const std::string file = name + format.extension;
    if (is_drawn) check_whole(drawing.path() / file, folder / file, format.end);
  }
  for (const Format& format : kFormats) {
    const std::string file = name + format.extension;
    std::error_code error;
    if (is_drawn) {
      fs::rename(drawing.path() / file, folder / file, error);
    } else {
      fs::remove(folder / file, error);
    }
    if (error && is_drawn) {
      throw Error(ErrorCode::kWrite,
                  fmt::format("{}: cannot be written: {}", (folder / file).string(), error.message()));
    }
  }
  return is_drawn;
}

}  // namespace treesample
