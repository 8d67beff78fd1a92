#include "tools/study/point_files.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "costmodel/text.h"

namespace stagecraft {

std::vector<std::string> FilesNamedBy(const std::string& value) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  const auto add = [&](const std::string& path) {
    if (path.empty()) return;
    std::error_code error;
    const fs::path config = fs::path(path) / "config.json";
    if (fs::is_regular_file(path, error)) files.push_back(path);
    if (fs::is_regular_file(config, error)) files.push_back(config.string());
  };
  add(value);
  if (value.find(',') == std::string::npos) return files;
  for (const std::string_view part : SplitAt(value, ',')) add(std::string(part));
  return files;
}

}  // namespace stagecraft
