// WholeFile: a file that appears under its name only once it is complete.
#pragma once

#include <memory>
#include <ostream>
#include <streambuf>
#include <string>

namespace stagecraft {

// Writes to a temporary file beside `path`, so that no reader sees half a file; anything that is
// not a regular file (/dev/stdout, a pipe) is written directly. Holds a megabyte in memory, however
// much is written.
class WholeFile {
 public:
  // Throws InputError if the directory is missing or `path` is a directory, std::runtime_error if
  // the file cannot be opened.
  explicit WholeFile(const std::string& path);
  // Leaves no file behind unless Finish() was called.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;

  std::ostream& stream() { return stream_; }
  // Gives the file its name. Throws std::runtime_error if that or anything before it failed.
  void Finish();

 private:
  class Buffer;

  std::string path_;
  std::string target_, part_;  // without a part, `path_` is written directly
  std::unique_ptr<Buffer> buffer_;
  std::ostream stream_;
};

}  // namespace stagecraft
