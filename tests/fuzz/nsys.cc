// Reads SQLite databases of Nsight Systems and makes timelines of them.
#include "tests/fuzz/recorded_traces.h"
#include "tests/fuzz/temporary_file.h"
#include "tools/recorded/nsys_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const fuzz::TemporaryFile file(data, size, ".sqlite");
  if (fuzz::Accepts([&] { fuzz::CheckTimeline(ReadNsys(file.path())); })) fuzz::CountAccepted();
  return 0;
}
