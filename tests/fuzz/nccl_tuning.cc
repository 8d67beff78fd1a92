// Reads constants of NCCL's cost model.
#include "costmodel/nccl_proto.h"
#include "costmodel/proto_file.h"
#include "proto/nccl.pb.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    NcclTuningProto proto;
    ParseProtoText(text, name, extension, &proto);
    NcclTuningFromProto(proto, name);
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
