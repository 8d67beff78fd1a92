#include "tools/sweep/file_claim.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace stagecraft {
namespace {

// Beyond any file, and beyond the bytes from 2^30 on that SQLite locks.
constexpr off_t kClaimedByte = off_t{1} << 60;

// Whether the path still names the file behind the descriptor, which another process may have
// deleted or replaced between opening and locking.
bool IsSameFile(int descriptor, const std::string& path) {
  struct stat opened = {}, named = {};
  return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

std::optional<FileClaim> FileClaim::Take(const std::string& path) {
  for (;;) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      throw std::runtime_error(
          fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
    }
    FileClaim claim(descriptor);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = kClaimedByte;
    lock.l_len = 1;
    if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0) {
      if (errno == EAGAIN || errno == EACCES) return std::nullopt;
      throw std::runtime_error(fmt::format("{}: cannot be locked: {}", path, std::strerror(errno)));
    }
    if (IsSameFile(descriptor, path)) return claim;
  }
}

FileClaim::~FileClaim() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace stagecraft
