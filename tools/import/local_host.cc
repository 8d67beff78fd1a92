#include "tools/import/local_host.h"

#include <fmt/format.h>

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
  *node->mutable_inline_device() = ToProto(host.processor);
  node->set_devices(host.processors);
  node->set_wiring(NodeTypeProto::SWITCHED);
  *node->mutable_intra() = ToProto(host.message);
  if (host.processors > 1) {
    SharedMemoryProto* shared = cluster.add_shared_memory();
    for (int i = 0; i < host.processors; ++i) shared->add_devices(fmt::format("node0/gpu{}", i));
    shared->set_bandwidth_bytes_per_s(host.together.bytes_per_s());
  }
  return cluster;
}

}  // namespace stagecraft
