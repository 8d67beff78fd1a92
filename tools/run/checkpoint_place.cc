#include "tools/run/checkpoint_place.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <system_error>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFlag = "--checkpoint-folder";

// Checkpoints that exist at the same time: the last one, the one that is being written, and a trial
// before the run.
constexpr int64_t kAtOnce = 3;

// Returns a descriptor that keeps others out as long as it is open.
int Lock(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    throw InputError(
        fmt::format("{}: got {}: {}, want a folder", kFlag, path, std::strerror(errno)));
  }
  if (flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  close(folder);
  throw InputError(
      fmt::format("{}: got {}, which another run uses, want one of its own", kFlag, path));
}

}  // namespace

CheckpointPlace::CheckpointPlace(const std::string& path, CheckpointFolder::Owner owner) {
  if (path.empty()) temporary_.emplace();
  path_ = path.empty() ? temporary_->path() : fs::absolute(path).string();
  lock_ = Lock(path_);
  try {
    folder_.emplace(path_, owner);
    first_ = Latest();
    trial_.emplace(path_);
  } catch (const InputError& error) {
    close(lock_);
    throw InputError(fmt::format("{}: {}", kFlag, error.what()));
  } catch (const std::runtime_error&) {
    close(lock_);
    throw InputError(
        fmt::format("{}: got {}, which cannot be written, want one that can", kFlag, path_));
  }
  CleanUp();
}

CheckpointPlace::~CheckpointPlace() {
  CleanUp();
  close(lock_);
}

void CheckpointPlace::RequireRoom(Bytes checkpoint) const {
  std::error_code error;
  const fs::space_info space = fs::space(path_, error);
  const Bytes wanted = Bytes(kAtOnce * checkpoint.count());
  if (error || static_cast<uintmax_t>(wanted.count()) <= space.available) return;
  throw InputError(fmt::format(
      "{}: got {}, where {:.1f} GB are free, want {:.1f} GB for checkpoints of {:.1f} GB", kFlag,
      path_, static_cast<double>(space.available) * 1e-9,
      static_cast<double>(wanted.count()) * 1e-9, static_cast<double>(checkpoint.count()) * 1e-9));
}

}  // namespace stagecraft
