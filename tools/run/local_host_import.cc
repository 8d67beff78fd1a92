#include "tools/run/local_host_import.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "costmodel/proto_file.h"
#include "runtime/processor_count.h"
#include "runtime/scratch_folder.h"
#include "tools/run/host_ranks.h"

namespace stagecraft {

ImportedCluster ImportLocalHost() {
  const ScratchFolder folder;
  const std::string output = folder.File("cluster.pb");
  RunHostRanks(std::max(2, ProcessorCount()), {output}, {});
  ImportedCluster imported;
  ReadProtoFile(output, &imported.cluster);
  const NodeTypeProto& node = imported.cluster.node_groups(0).inline_node_type();
  const DeviceProto& device = node.inline_device();
  imported.notes = {
      fmt::format(
          "a CPU core reaches {:.1f} GFLOP/s and {:.1f} GB/s of memory bandwidth while all {} are "
          "busy",
          device.fp32_flop_per_s() * 1e-9, device.memory_bandwidth_bytes_per_s() * 1e-9,
          node.devices()),
      fmt::format("messages have a latency of {:.1f} us and a bandwidth of {:.2f} GB/s",
                  static_cast<double>(node.intra().latency_ns()) * 1e-3,
                  node.intra().bandwidth_bytes_per_s() * 1e-9),
      "GEMMs are computed in fp32, whatever the precision of the plan, and all precisions have the "
      "same rate"};
  return imported;
}

}  // namespace stagecraft
