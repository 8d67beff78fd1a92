#include "tools/import/local_host.h"

#include "costmodel/hardware_proto.h"
#include "costmodel/units.h"

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
  processor.memory = Bytes(processor.memory.count() / host.processors);
  *node->mutable_inline_device() = ToProto(processor);
  node->set_devices(host.processors);
  node->set_wiring(NodeTypeProto::SWITCHED);
  *node->mutable_intra() = ToProto(host.message);
  return cluster;
}

}  // namespace stagecraft
