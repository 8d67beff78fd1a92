#include "tools/import/local_host.h"

#include <algorithm>

#include "costmodel/hardware_proto.h"

namespace stagecraft {

ClusterProto LocalHostCluster(const LocalHost& host) {
  ClusterProto cluster;
  cluster.set_name("local-host");
  NodeGroupProto* group = cluster.add_node_groups();
  group->set_count(1);
  NodeTypeProto* node = group->mutable_inline_node_type();
  node->set_id("local-host");
  node->set_name(host.processor.name);
  Device processor = host.processor;
  const Bandwidth part = (1.0 / host.processors) * host.together;
  processor.memory_bandwidth = std::min(processor.memory_bandwidth, part);
  *node->mutable_inline_device() = ToProto(processor);
  node->set_devices(host.processors);
  node->set_wiring(NodeTypeProto::SWITCHED);
  *node->mutable_intra() = ToProto(host.message);
  return cluster;
}

}  // namespace stagecraft
