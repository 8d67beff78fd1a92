#include "tools/sweep/known_rows.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tools/sweep/run_row.h"

namespace stagecraft {
namespace {

// The rows of a database by what their results depend on. Where several grids have the same point,
// their rows are the same.
std::unordered_map<std::string, RunRow> RowsByInputs(const std::string& path) {
  const RunStore store = RunStore::Read(path);
  std::unordered_map<std::string, RunRow> rows;
  for (size_t grid = 0; grid < store.grids().size(); ++grid) {
    store.ForEachRow(static_cast<int>(grid),
                     [&](const RunRow& row) { rows.emplace(row.inputs_hash, row); });
  }
  return rows;
}

}  // namespace

int64_t TakeKnownRows(const std::vector<std::string>& databases, const Grid& grid,
                      const SweepInputs& inputs, std::vector<int64_t>& points, RunStore& store) {
  int64_t taken = 0;
  for (const std::string& path : databases) {
    const std::unordered_map<std::string, RunRow> known = RowsByInputs(path);
    std::vector<RunRow> rows;
    std::erase_if(points, [&](int64_t point) {
      const auto found = known.find(inputs.HashOf(grid.At(point)));
      if (found == known.end()) return false;
      rows.push_back(found->second);
      rows.back().point = point;
      return true;
    });
    store.Add(0, rows, path);
    taken += static_cast<int64_t>(rows.size());
  }
  return taken;
}

}  // namespace stagecraft
