// Reads workload files, and simulates steps of the workloads that they describe.
#include "costmodel/proto_file.h"
#include "proto/workload.pb.h"
#include "sim/workload/workload_proto.h"
#include "sim/workload/workload_to_proto.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    WorkloadProto proto;
    ParseProtoText(text, name, extension, &proto);
    const Workload workload = WorkloadFromProto(proto, name);
    CHECK(workload.Parameters() >= 0);
    CHECK(WorkloadFromProto(WorkloadToProto(workload), name) == workload);
    fuzz::SimulateWorkload(workload);
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
