// Reads tables of what training frameworks can run.
#include "tools/frameworks/framework_table.h"

#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const FrameworkTable table = FrameworkTable::Parse(text, "frameworks.textproto");
    for (const std::string& name : table.Names()) CHECK(table.Find(name) != nullptr);
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
