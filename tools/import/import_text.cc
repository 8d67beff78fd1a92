#include "tools/import/import_text.h"

#include <filesystem>
#include <optional>
#include <system_error>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr size_t kMostQuoted = 48;

}  // namespace

std::string ReadSourceText(const std::string& path, int64_t most_bytes) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (!error) CheckSourceSize(path, size, most_bytes);
  std::string text = ReadFile(path);
  if (text.empty()) throw InputError(path + ": got an empty file, want a description");
  return text;
}

void CheckSourceSize(const std::string& path, uintmax_t bytes, int64_t most_bytes) {
  if (bytes <= static_cast<uintmax_t>(most_bytes)) return;
  throw InputError(path + ": got " + std::to_string(bytes) + " bytes, want at most " +
                   std::to_string(most_bytes) + " of a description of this kind");
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMostQuoted)) {
    const bool is_plain =
        static_cast<unsigned char>(c) >= ' ' && static_cast<unsigned char>(c) < 127;
    quoted += is_plain ? c : '?';
  }
  return quoted + (text.size() > kMostQuoted ? "...\"" : "\"");
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines = SplitAt(text, '\n');
  for (std::string_view& line : lines) {
    if (line.ends_with('\r')) line.remove_suffix(1);
  }
  return lines;
}

std::string AtLine(const std::string& name, size_t index) {
  return name + ": line " + std::to_string(index + 1) + ": ";
}

int64_t ParseWhole(std::string_view text, int64_t least, int64_t most, const std::string& place) {
  const std::optional<int64_t> value = ParseNumber<int64_t>(text);
  if (!value || *value < least || *value > most) {
    throw InputError(place + ": got " + Quoted(text) + ", want a whole number from " +
                     std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

}  // namespace stagecraft
