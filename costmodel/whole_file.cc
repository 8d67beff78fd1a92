#include "costmodel/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

// Writes to a descriptor. After the first error nothing more is written.
class WholeFile::Buffer : public std::streambuf {
 public:
  explicit Buffer(int descriptor) : descriptor_(descriptor), bytes_(kBufferBytes) { Clear(); }
  ~Buffer() override { Close(); }
  Buffer(const Buffer&) = delete;

  // Returns 0, or the number of the first error.
  int Close() {
    Flush();
    if (descriptor_ >= 0 && close(descriptor_) != 0 && error_ == 0) error_ = errno;
    descriptor_ = -1;
    return error_;
  }

 protected:
  int_type overflow(int_type next) override {
    if (!Flush()) return traits_type::eof();
    if (!traits_type::eq_int_type(next, traits_type::eof())) sputc(traits_type::to_char_type(next));
    return traits_type::not_eof(next);
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    if (count <= epptr() - pptr()) {
      std::memcpy(pptr(), bytes, static_cast<size_t>(count));
      pbump(static_cast<int>(count));
      return count;
    }
    return Flush() && Write(bytes, static_cast<size_t>(count)) ? count : 0;
  }
  int sync() override { return Flush() ? 0 : -1; }

 private:
  void Clear() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }

  bool Flush() {
    const bool is_written = Write(pbase(), static_cast<size_t>(pptr() - pbase()));
    Clear();
    return is_written;
  }

  bool Write(const char* bytes, size_t count) {
    while (count > 0 && error_ == 0) {
      const ssize_t written = write(descriptor_, bytes, count);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        error_ = errno;
        break;
      }
      bytes += written;
      count -= static_cast<size_t>(written);
    }
    return error_ == 0;
  }

  int descriptor_;
  int error_ = 0;
  std::vector<char> bytes_;
};

namespace {

[[noreturn]] void FailWriting(const std::string& path, int error) {
  throw std::runtime_error(path + ": cannot write: " + std::strerror(error));
}

int Open(const std::string& file, int flags, const std::string& path) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | flags, 0666);
  if (descriptor < 0) FailWriting(path, errno);
  return descriptor;
}

}  // namespace

WholeFile::WholeFile(const std::string& path) : path_(path), stream_(nullptr) {
  namespace fs = std::filesystem;
  std::error_code error;
  // A symbolic link stays the same: the file to which it points is replaced.
  fs::path target = fs::weakly_canonical(path, error);
  if (error) target = path;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    throw InputError(path + ": no such directory, want a path in an existing one");
  }
  if (fs::is_directory(target, error)) {
    throw InputError(path + ": got a directory, want a file to write");
  }
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    buffer_ = std::make_unique<Buffer>(Open(path, 0, path));
  } else {
    target_ = target.string();
    part_ = target_ + "." + std::to_string(getpid()) + ".part";
    buffer_ = std::make_unique<Buffer>(Open(part_, O_CREAT, path));
  }
  stream_.rdbuf(buffer_.get());
}

WholeFile::~WholeFile() {
  buffer_->Close();
  if (!part_.empty()) unlink(part_.c_str());
}

void WholeFile::Finish() {
  if (const int error = buffer_->Close(); error != 0) FailWriting(path_, error);
  if (part_.empty()) return;
  if (std::rename(part_.c_str(), target_.c_str()) != 0) FailWriting(path_, errno);
  part_.clear();
}

}  // namespace stagecraft
