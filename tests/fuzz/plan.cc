// Reads plan files, for a decoder and for a mixture of experts on two nodes, and simulates steps of
// the plans that they describe.
#include "costmodel/proto_file.h"
#include "proto/plan.pb.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan_proto.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"
#include "tests/fuzz/small_networks.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const Cluster cluster = ParseCluster("h100-sxm:2x4");
  const std::string text = fuzz::Text(data, size);
  bool is_accepted = false;
  for (const Workload& workload : fuzz::SmallNetworks()) {
    const auto read = [&](const std::string& extension, const std::string& name) {
      PlanProto proto;
      ParseProtoText(text, name, extension, &proto);
      const Plan plan = PlanFromProto(proto, workload, cluster, name);
      CHECK(FindErrors(plan, workload, cluster).empty());
      const Plan again = PlanFromProto(ToProto(plan), workload, cluster, name);
      CHECK(ToProto(again).SerializeAsString() == ToProto(plan).SerializeAsString());
      fuzz::Simulate(plan, workload, cluster);
    };
    is_accepted |= fuzz::AcceptsInSomeFormat(read);
  }
  if (is_accepted) fuzz::CountAccepted();
  return 0;
}
