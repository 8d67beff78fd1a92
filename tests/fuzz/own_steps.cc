// Reads tables of a user's own measured steps, as `validate` and `fit --steps` do.
#include "tools/own/own_steps.h"

#include "tests/fuzz/fuzzing.h"
#include "tools/validation/csv_table.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const CsvTable table = CsvTable::Parse(text, "steps.csv");
    if (!IsOwnTable(table)) throw InputError("steps.csv: want the columns of measured steps");
    CHECK(!ReadOwnSteps(table).empty());
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
