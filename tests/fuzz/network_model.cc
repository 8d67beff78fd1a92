// Reads network models in the form in which `fit` writes them, and asks them for two collectives.
#include "costmodel/network/network_model.h"

#include "costmodel/device_catalogue.h"
#include "costmodel/op.h"
#include "costmodel/proto_file.h"
#include "proto/network.pb.h"
#include "sim/cluster/cluster_spec.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const Cluster cluster = ParseCluster("h100-sxm:2x8");
  static const std::vector<int> devices = {0, 1, 8, 9};
  static const std::vector<Op> ops = {
      Op::Collective(OpKind::kAllReduce, Bytes(1 << 20), cluster.DescribeGroup(devices)),
      Op::Collective(OpKind::kAllGather, Bytes(1 << 10), cluster.DescribeGroup(devices))};
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    NetworkModelProto proto;
    ParseProtoText(text, name, extension, &proto);
    const NetworkModel model = NetworkModel::FromProto(proto, name);
    for (const NetworkEstimate& predicted : model.Predict(ops, cluster.device(0))) {
      CHECK(predicted.estimate.time > Duration() && predicted.estimate.spread >= 0);
    }
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
