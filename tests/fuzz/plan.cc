// Reads plan files, for a decoder and for a mixture of experts on two nodes, and simulates steps of
// the plans that they describe.
#include "costmodel/proto_file.h"
#include "proto/plan.pb.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan_proto.h"
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
        "max_position_embeddings": 4096})";

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
  static const Cluster cluster = ParseCluster("h100-sxm:2x4");
  const std::string text = fuzz::Text(data, size);
  bool is_accepted = false;
  for (const Workload& workload : Workloads()) {
    const auto read = [&](const std::string& extension, const std::string& name) {
      PlanProto proto;
      ParseProtoText(text, name, extension, &proto);
      const Plan plan = PlanFromProto(proto, workload, cluster, name);
      CHECK(FindErrors(plan, workload, cluster).empty());
      const Plan again = PlanFromProto(ToProto(plan), workload, cluster, name);
      CHECK(ToProto(again).SerializeAsString() == ToProto(plan).SerializeAsString());
      fuzz::Simulate(plan, workload, cluster);
    };
    is_accepted |= fuzz::AcceptsInSomeFormat(read);
  }
  if (is_accepted) fuzz::CountAccepted();
  return 0;
}
