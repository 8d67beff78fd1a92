// ByteStream: the bytes of a file one after another, decompressed if it is a gzip file, in memory
// that does not grow with the file.
#pragma once

#include <cstdint>
#include <memory>
#include <streambuf>
#include <string>
#include <vector>

namespace stagecraft {

// The longest trace that readers take, decompressed.
inline constexpr int64_t kMostTraceBytes = int64_t{64} << 30;

class ByteStream : public std::streambuf {
 public:
  // Throws InputError if the file cannot be opened.
  explicit ByteStream(const std::string& path);
  ~ByteStream() override;

  // Whether a gzip file ended before its last byte. It can be asked after the end of the stream.
  bool is_cut_off() const { return is_cut_off_; }

 protected:
  // Throws InputError for damaged gzip data, and beyond kMostTraceBytes.
  int_type underflow() override;

 private:
  struct File;

  const std::string path_;
  std::unique_ptr<File> file_;
  std::vector<char> buffer_;
  int64_t read_ = 0;
  bool is_cut_off_ = false;
};

}  // namespace stagecraft
