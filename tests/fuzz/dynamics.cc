// Reads files of dynamics, and lets them change a decoder.
#include "sim/dynamics/dynamics.h"

#include <algorithm>

#include "costmodel/proto_file.h"
#include "costmodel/random.h"
#include "proto/dynamics.pb.h"
#include "sim/dynamics/dynamics_proto.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const Workload workload = LoadWorkload("megatron:8x64x4", AttentionBackend::kFlash);
  constexpr int64_t kSteps = 50;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    DynamicsProto proto;
    ParseProtoText(text, name, extension, &proto);
    const Dynamics dynamics = DynamicsFromProto(proto, workload, name);
    int64_t before = -1;
    for (const NetworkChange& change : ChangesOf(dynamics, workload, kSteps, Random(1))) {
      CHECK(change.step > before && change.step < kSteps);
      before = change.step;
      CHECK(change.states.size() == workload.layers.size());
      for (const LayerState& state : change.states) {
        CHECK(state.token_share >= 0 && state.token_share <= 1);
        CHECK(state.weight_density >= 0 && state.weight_density <= 1);
        CHECK(state.attention_density > 0 && state.attention_density <= 1);
      }
    }
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
