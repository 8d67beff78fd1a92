#include "tools/recorded/trace_format.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/recorded/byte_stream.h"

namespace stagecraft {
namespace {

// The head of a Kineto trace describes the devices of a node before its events begin.
constexpr size_t kMostHead = size_t{1} << 20;

std::string HeadOf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  std::string head(kMostHead, '\0');
  ByteStream bytes(path);
  head.resize(
      static_cast<size_t>(bytes.sgetn(head.data(), static_cast<std::streamsize>(head.size()))));
  return head;
}

}  // namespace

std::optional<TraceFormat> FindTraceFormat(const std::string& path) {
  const std::string head = HeadOf(path);
  if (head.empty()) return std::nullopt;
  if (path.ends_with(".et") || path.ends_with(".et.gz")) return TraceFormat::kChakra;
  if (head.starts_with("SQLite format 3")) return TraceFormat::kNsys;
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return std::nullopt;
  // Some programs write the list of events alone; no other file that is compared is a list.
  const bool is_kineto = head[first] == '[' ||
                         (head[first] == '{' && head.find("\"traceEvents\"") != std::string::npos);
  return is_kineto ? std::optional(TraceFormat::kKineto) : std::nullopt;
}

}  // namespace stagecraft
