// A file with the bytes of an input, for readers that take the names of files.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace stagecraft::fuzz {

class TemporaryFile {
 public:
  TemporaryFile(const uint8_t* data, size_t size, const std::string& extension)
      : path_(std::filesystem::temp_directory_path() /
              ("fuzz." + std::to_string(getpid()) + extension)) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace stagecraft::fuzz
