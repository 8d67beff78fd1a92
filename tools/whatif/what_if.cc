#include "tools/whatif/what_if.h"

#include <fmt/core.h>

#include <utility>

#include "costmodel/check.h"
#include "tools/whatif/why.h"

namespace stagecraft {
namespace {

// Drops what only reasons need.
void Forget(WhatIfRow& row) {
  if (!row.answer.step) return;
  SimulatedStep& step = row.answer.step->step;
  step.schedule = {};
  step.timeline = {};
  step.costs = {};
}

WhatIfRow RowOf(std::vector<size_t> indices, const WhatIfTable& table, Answerer& answerer) {
  WhatIfRow row{.changes = std::move(indices), .point = table.base.point, .answer = {}, .why = {}};
  try {
    for (const size_t index : row.changes) {
      row.point = Apply(table.changes[index], std::move(row.point));
    }
    row.answer = answerer.Ask(row.point);
  } catch (const InputError& error) {
    if (row.changes.size() < 2) throw;
    row.answer.refusal = error.what();
  }
  return row;
}

}  // namespace

WhatIfTable WhatIf(const StudyPoint& base, const std::vector<Change>& changes, bool pairs,
                   Answerer& answerer) {
  WhatIfTable table{.changes = changes, .base = {{}, base, answerer.Ask(base), {}}, .rows = {}};
  if (!table.base.answer.refusal.empty()) throw InputError(table.base.answer.refusal);
  for (size_t first = 0; first < changes.size(); ++first) {
    WhatIfRow row = RowOf({first}, table, answerer);
    if (!row.answer.refusal.empty()) {
      throw InputError(fmt::format("--change {}: {}", changes[first].text, row.answer.refusal));
    }
    row.why = WhyOfChange(table.base, row, changes[first]);
    Forget(row);
    table.rows.push_back(std::move(row));
  }
  for (size_t first = 0; pairs && first < changes.size(); ++first) {
    for (size_t second = first + 1; second < changes.size(); ++second) {
      if (Collide(changes[first], changes[second])) continue;
      WhatIfRow row = RowOf({first, second}, table, answerer);
      row.why = WhyOfPair(table.base, table.rows[first], table.rows[second], row);
      Forget(row);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace stagecraft
