#include "tools/validation/row_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tools/validation/class_errors.h"

namespace stagecraft {
namespace {

struct Scale {
  int64_t most;  // GPUs
  const char* name;
};
constexpr Scale kScales[] = {{1, "1"}, {8, "2-8"}, {64, "9-64"}, {512, "65-512"}};

std::string Or(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

// The place of a group among the others, and its name.
using GroupKey = std::pair<int, std::string>;

GroupKey ScaleOf(int64_t gpus) {
  int place = 0;
  for (const Scale& scale : kScales) {
    if (gpus <= scale.most) return {place, scale.name};
    ++place;
  }
  return {place, "more than 512"};
}

// Tables keep the place that they have in `tables`, to which new ones are added.
GroupKey KeyOf(const ValidatedRow& validated, Grouping by, std::vector<std::string>& tables) {
  const MeasuredRow& row = validated.measured;
  switch (by) {
    case Grouping::kClass: {
      const WorkClass work = WorkOf(row);
      return {static_cast<int>(work), Name(work)};
    }
    case Grouping::kTable: {
      const auto known = std::find(tables.begin(), tables.end(), row.table);
      const auto place = static_cast<int>(known - tables.begin());
      if (known == tables.end()) tables.push_back(row.table);
      return {place, row.table};
    }
    case Grouping::kGpu:
      return {0, Or(row.gpu_id, "not stated")};
    case Grouping::kScale:
      return ScaleOf(GpusOf(row));
    case Grouping::kStack:
      return {0, Or(row.dtype, "precision not stated") + ", " + Or(row.stack, "stack not stated")};
    case Grouping::kMechanism:
      return {0, Or(validated.prediction.main_part, "parts of steps")};
    case Grouping::kMetric:
      return {0, row.metric_kind};
  }
  return {};
}

}  // namespace

const char* Name(Grouping by) {
  constexpr const char* kNames[] = {
      "class of work",       "table",     "GPU type", "number of GPUs",
      "precision and stack", "mechanism", "metric"};
  return kNames[static_cast<int>(by)];
}

std::vector<RowGroup> GroupRows(std::span<const ValidatedRow* const> rows, Grouping by) {
  std::map<GroupKey, std::vector<int>> parts;
  std::vector<std::string> tables;
  for (size_t row = 0; row < rows.size(); ++row) {
    parts[KeyOf(*rows[row], by, tables)].push_back(static_cast<int>(row));
  }
  std::vector<RowGroup> groups;
  for (auto& [key, part] : parts) {
    std::vector<const ValidatedRow*> members;
    for (const int row : part) members.push_back(rows[static_cast<size_t>(row)]);
    groups.push_back({key.second, std::move(part), SummarizeRatios(members)});
  }
  return groups;
}

int64_t GpusOf(const MeasuredRow& row) {
  if (row.n_gpus > 0) return row.n_gpus;
  int64_t product = 1;
  for (const int64_t degree : {row.tp, row.pp, row.cp, row.dp}) {
    product *= std::max<int64_t>(degree, 1);
  }
  return product;
}

}  // namespace stagecraft
