// FileClaim: makes sure that one process at a time writes a file.
#pragma once

#include <optional>
#include <string>

namespace stagecraft {

// Holds as long as it exists, and ends with its process however that ends. It hinders only those
// who also claim the file. On Linux, by a lock on a byte far beyond the end of the file, which
// SQLite does not use. It must outlive every other use of the file in this process, since closing a
// file releases the locks that SQLite has on it.
class FileClaim {
 public:
  // Claims the file, and makes an empty one if there is none. Returns no value if another process,
  // or another claim of this one, has it. Throws std::runtime_error if the file cannot be opened,
  // or its file system has no locks.
  static std::optional<FileClaim> Take(const std::string& path);

  FileClaim(FileClaim&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  FileClaim& operator=(FileClaim&&) = delete;
  ~FileClaim();

 private:
  explicit FileClaim(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace stagecraft
