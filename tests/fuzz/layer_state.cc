// Reads files of layer states, for a decoder and for a mixture of experts, and simulates steps of
// the networks whose layers are in these states.
#include "sim/workload/layer_state.h"

#include "costmodel/proto_file.h"
#include "proto/layer_state.pb.h"
#include "sim/workload/layer_state_proto.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"
#include "tests/fuzz/small_networks.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  bool is_accepted = false;
  for (const Workload& plain : fuzz::SmallNetworks()) {
    const auto read = [&](const std::string& extension, const std::string& name) {
      LayerStatesProto proto;
      ParseProtoText(text, name, extension, &proto);
      CheckLayerStates(proto, name);
      Workload workload = plain;
      ApplyLayerStates(name, LayerStatesFromProto(proto, workload, name), workload);
      CHECK(workload.TrainedParameters() >= 0);
      CHECK(workload.TrainedParameters() <= workload.Parameters());
      fuzz::SimulateWorkload(workload);
    };
    is_accepted |= fuzz::AcceptsInSomeFormat(read);
  }
  if (is_accepted) fuzz::CountAccepted();
  return 0;
}
