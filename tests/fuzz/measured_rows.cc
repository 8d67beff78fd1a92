// Reads tables of measured rows, as `validate` does, and predicts their rows.
#include <cmath>

#include "costmodel/analytical_model.h"
#include "tests/fuzz/fuzzing.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/csv_table.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/prediction.h"
#include "tools/validation/row_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  constexpr int64_t kMost = 64;  // the most devices, layers or samples of a row that is predicted
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const AnalyticalModel model;
    for (const MeasuredRow& row : ReadMeasuredRows(CsvTable::Parse(text, "rows.csv"), "rows")) {
      const bool is_small = row.n_gpus <= kMost && row.layers <= kMost && row.global_batch <= kMost;
      if (!is_small || !row.is_scored) continue;
      const Prediction prediction =
          PredictRow(row, {StackTable::Embedded(), RowFactTable::Embedded(), model});
      if (prediction.value) CHECK(std::isfinite(*prediction.value) && *prediction.value >= 0);
    }
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
