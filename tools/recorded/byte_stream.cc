#include "tools/recorded/byte_stream.h"

#include <fmt/core.h>
#include <zlib.h>

#include <filesystem>
#include <system_error>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr size_t kBuffer = size_t{1} << 18;

}  // namespace

struct ByteStream::File {
  gzFile handle = nullptr;
};

ByteStream::ByteStream(const std::string& path)
    : path_(path), file_(std::make_unique<File>()), buffer_(kBuffer) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw InputError(path + ": got a folder, want a file");
  }
  // It reads files that are not compressed as they are.
  file_->handle = gzopen(path.c_str(), "rb");
  if (file_->handle == nullptr) throw InputError(path + ": cannot be read");
  gzbuffer(file_->handle, kBuffer);
}

ByteStream::~ByteStream() {
  if (file_->handle != nullptr) gzclose(file_->handle);
}

ByteStream::int_type ByteStream::underflow() {
  const int count = gzread(file_->handle, buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int code = Z_OK;
  const char* const message = gzerror(file_->handle, &code);
  if (count < 0 && code != Z_BUF_ERROR) {
    throw InputError(fmt::format("{}: damaged after {} bytes: {}", path_, read_, message));
  }
  if (count <= 0) {
    is_cut_off_ = code == Z_BUF_ERROR;
    return traits_type::eof();
  }
  read_ += count;
  if (read_ > kMostTraceBytes) {
    throw InputError(fmt::format("{}: got more than {} bytes, want fewer", path_, kMostTraceBytes));
  }
  setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
  return traits_type::to_int_type(buffer_[0]);
}

}  // namespace stagecraft
