// ScratchFolder: a folder for temporary files.
#pragma once

#include <filesystem>
#include <string>

namespace stagecraft {

// An empty folder of its own, removed with everything in it when the object ends. Throws
// std::runtime_error if none can be made.
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
