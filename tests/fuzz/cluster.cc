// Reads cluster files, and simulates steps on the clusters that they describe.
#include "costmodel/proto_file.h"
#include "proto/cluster.pb.h"
#include "sim/cluster/cluster_proto.h"
#include "sim/cluster/cluster_spec.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    ClusterProto proto;
    ParseProtoText(text, name, extension, &proto);
    const Cluster cluster = ClusterFromProto(proto, name);
    CHECK(!DescribeCluster(cluster).empty());
    fuzz::SimulateCluster(cluster);
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
