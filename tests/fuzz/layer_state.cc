// Reads files of layer states, for a decoder and for a mixture of experts, and simulates steps of
// the networks whose layers are in these states.
#include "sim/workload/layer_state.h"

#include "costmodel/proto_file.h"
#include "proto/layer_state.pb.h"
#include "sim/workload/layer_state_proto.h"
#include "sim/workload/readers/hf_config.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

namespace stagecraft {
namespace {

constexpr const char* kExperts =
    R"({"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 128,
        "num_hidden_layers": 8, "num_attention_heads": 4, "num_key_value_heads": 4,
        "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 256,
        "max_position_embeddings": 512})";

const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> workloads = {
      LoadWorkload("megatron:8x64x4", AttentionBackend::kFlash),
      BuildNetwork(ParseHuggingFaceNetwork(kExperts, "experts"), AttentionBackend::kUnfused,
                   "experts")};
  return workloads;
}

}  // namespace
}  // namespace stagecraft

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  bool is_accepted = false;
  for (const Workload& plain : Workloads()) {
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
