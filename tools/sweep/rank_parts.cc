#include "tools/sweep/rank_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "costmodel/text.h"
#include "tools/sweep/file_claim.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> PartsOf(const std::string& path) {
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  const std::string begin = fs::path(path).filename().string() + ".rank";
  std::vector<std::string> parts;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin)) continue;
    const auto rank = ParseNumber<int64_t>(std::string_view(name).substr(begin.size()));
    if (rank) parts.push_back(path + ".rank" + std::to_string(*rank));
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

}  // namespace

std::string PartOfRank(const std::string& path, int64_t rank) {
  return rank == 0 ? path : fmt::format("{}.rank{}", path, rank);
}

PartsTaken TakeParts(const GridRecord& grid, const std::string& path, RunStore& store) {
  PartsTaken parts;
  for (const std::string& part : PartsOf(path)) {
    const std::optional<FileClaim> claim = FileClaim::Take(part);
    if (!claim) {
      ++parts.busy;
      continue;
    }
    store.AddAll(0, RunStore::OpenFor(grid, part), 0, part);
    std::error_code ignored;
    fs::remove(part, ignored);
    ++parts.taken;
  }
  return parts;
}

}  // namespace stagecraft
