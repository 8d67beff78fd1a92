// Reads traces of Kineto, whole or cut off.
#include "tests/fuzz/recorded_traces.h"
#include "tools/recorded/kineto_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stagecraft::fuzz::CheckTrace(data, size, ".json", stagecraft::ReadKineto);
  return 0;
}
