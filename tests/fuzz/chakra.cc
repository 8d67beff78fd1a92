// Reads traces of Chakra, whole or cut off.
#include <google/protobuf/stubs/logging.h>

#include "tests/fuzz/recorded_traces.h"
#include "tools/recorded/chakra_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const google::protobuf::LogSilencer silencer;
  stagecraft::fuzz::CheckTrace(data, size, ".et", stagecraft::ReadChakra);
  return 0;
}
