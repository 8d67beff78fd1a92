#include "costmodel/learned/samples/gzip.h"

#include <fmt/core.h>
#include <zlib.h>

#include <limits>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 31;
constexpr size_t kChunk = size_t{1} << 20;
// zlib's largest window, with a gzip header.
constexpr int kGzipWindow = 15 + 16;
constexpr int kMemoryLevel = 8;  // zlib's own default

Bytef* Start(std::string_view bytes) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

// Decompresses one member: `stream` takes it from its input, and it is appended to `text`.
void InflateMember(z_stream& stream, const std::string& name, std::string& text) {
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    const size_t before = text.size();
    if (before + kChunk > kMaxBytes) {
      throw InputError(name + ": got more than 2 GiB once unpacked, want a smaller file");
    }
    text.resize(before + kChunk);
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = kChunk;
    status = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
    if (status == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0)) continue;
    if (status == Z_STREAM_END) break;
    const bool is_short = status == Z_OK || status == Z_BUF_ERROR;
    throw InputError(
        fmt::format("{}: got gzip data that {} after {} bytes unpacked, want a whole "
                    ".gz file",
                    name, is_short ? "end" : "are damaged", text.size()));
  }
}

}  // namespace

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string Gunzip(std::string_view bytes, const std::string& name) {
  if (bytes.size() > std::numeric_limits<uInt>::max()) {
    throw InputError(name + ": got more than 4 GiB, want a smaller file");
  }
  z_stream stream = {};
  CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK);
  std::string text;
  stream.next_in = Start(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  try {
    do {
      InflateMember(stream, name, text);
      inflateReset(&stream);
    } while (stream.avail_in > 0);
  } catch (...) {
    inflateEnd(&stream);
    throw;
  }
  inflateEnd(&stream);
  return text;
}

std::string Gzip(std::string_view contents) {
  CHECK(contents.size() <= kMaxBytes);
  z_stream stream = {};
  CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  std::string bytes(deflateBound(&stream, contents.size()), '\0');
  stream.next_in = Start(contents);
  stream.avail_in = static_cast<uInt>(contents.size());
  stream.next_out = Start(bytes);
  stream.avail_out = static_cast<uInt>(bytes.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

}  // namespace stagecraft
