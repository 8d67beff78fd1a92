#include "tools/flags/layer_state_flags.h"

#include <cstddef>
#include <vector>

#include "costmodel/proto_file.h"
#include "proto/layer_state.pb.h"
#include "sim/workload/layer_parts.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/layer_state_proto.h"

namespace stagecraft {

void ApplyStateFlags(const std::string& file, const std::string& frozen, Workload& workload) {
  constexpr const char* kFrozen = "--frozen";
  std::vector<LayerState> states(workload.layers.size());
  if (!file.empty()) {
    LayerStatesProto proto;
    ReadProtoFile(file, &proto);
    states = LayerStatesFromProto(proto, workload, file);
  }
  if (!frozen.empty()) {
    const std::vector<bool> is_frozen = LayersOfParts(kFrozen, frozen, workload);
    for (size_t layer = 0; layer < states.size(); ++layer) {
      if (is_frozen[layer]) states[layer].is_trained = false;
    }
  }
  ApplyLayerStates(frozen.empty() ? file
                   : file.empty() ? kFrozen
                                  : file + ", " + kFrozen,
                   states, workload);
}

}  // namespace stagecraft
