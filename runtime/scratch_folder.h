// ScratchFolder: a folder for temporary files.
#pragma once

#include <filesystem>
#include <string>

namespace stagecraft {

// Makes an empty folder, and removes it with everything in it when the object is destroyed. The
// constructor throws std::runtime_error if it cannot make one.
class ScratchFolder {
 public:
  explicit ScratchFolder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string File(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace stagecraft
