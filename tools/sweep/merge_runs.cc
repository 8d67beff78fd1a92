#include "tools/sweep/merge_runs.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "costmodel/check.h"
#include "tools/sweep/run_store.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

void CheckSources(const std::vector<std::string>& sources) {
  std::error_code error;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!fs::equivalent(sources[i], sources[k], error) || error) continue;
      throw InputError(sources[i] + ": got it twice, want every database once");
    }
  }
}

// Throws InputError unless the grid may stand beside those of the sources before.
void CheckGrid(const GridRecord& grid, const GridRecord& first, const std::string& source,
               const std::string& first_source, const MergeRules& rules) {
  const bool is_same_build =
      grid.tool_version == first.tool_version && grid.data_hash == first.data_hash;
  if (!is_same_build && !rules.allows_other_versions) {
    const bool is_same_version = grid.tool_version == first.tool_version;
    throw InputError(fmt::format(
        "{}: was written by stagecraft {}{}, {} by {}; want one version, or --allow-other-versions",
        source, grid.tool_version, is_same_version ? " with other cost models or catalogues" : "",
        first_source, first.tool_version));
  }
  const bool is_same_grid = grid.definition == first.definition && grid.files == first.files;
  if (!is_same_grid && !rules.allows_other_grids) {
    throw InputError(fmt::format(
        "{}: holds points of another grid than {}{}, want one grid, or "
        "--allow-other-grids",
        source, first_source,
        grid.definition == first.definition ? ", since files that it names differ" : ""));
  }
}

// Deletes a database that was not finished.
class Unfinished {
 public:
  explicit Unfinished(std::string path) : path_(std::move(path)) {}
  ~Unfinished() {
    std::error_code ignored;
    fs::remove(path_, ignored);
    fs::remove(path_ + "-journal", ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

void MergeRuns(const std::vector<std::string>& sources, const std::string& output,
               const MergeRules& rules) {
  std::error_code error;
  if (fs::exists(output, error)) {
    throw InputError("-o: got \"" + output + "\", which exists already, want a new file");
  }
  CheckSources(sources);
  const Unfinished part(fmt::format("{}.{}.part", output, getpid()));
  {
    RunStore merged = RunStore::Create(part.path());
    std::string first_source;
    for (const std::string& source : sources) {
      const RunStore store = RunStore::Read(source);
      if (merged.grids().empty()) first_source = source;
      const GridRecord first = merged.grids().empty() ? store.grids()[0] : merged.grids()[0];
      for (const GridRecord& grid : store.grids()) {
        CheckGrid(grid, first, source, first_source, rules);
      }
      for (size_t grid = 0; grid < store.grids().size(); ++grid) {
        merged.AddAll(merged.AddGrid(store.grids()[grid]), store, static_cast<int>(grid), source);
      }
    }
  }
  fs::rename(part.path(), output);
}

}  // namespace stagecraft
