#include "sim/workload/workload_proto.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/networks/test_linears.h"
#include "sim/workload/workload_to_proto.h"

namespace stagecraft {
namespace {

Workload Build(const char* family, AttentionBackend attention) {
  const DecoderConfig config = SizedDecoder(
      family, {.layers = 3, .hidden = 64, .heads = 4, .vocab = 512, .max_sequence = 128});
  return BuildDecoder(config, attention, family);
}

TEST(WorkloadProtoTest, RoundTripGivesAnEqualWorkload) {
  for (const char* family : {"gpt", "gpt_neox", "opt", "mpt", "llama", "nemotron"}) {
    for (const auto attention : {AttentionBackend::kFlash, AttentionBackend::kUnfused}) {
      const Workload workload = Build(family, attention);
      const Workload back = WorkloadFromProto(WorkloadToProto(workload), "w");
      EXPECT_TRUE(back == workload) << family;
      EXPECT_EQ(back.Parameters(), workload.Parameters());
    }
  }
}

TEST(WorkloadProtoTest, DifferentWorkloadsAreUnequal) {
  EXPECT_FALSE(Build("gpt", AttentionBackend::kFlash) == Build("gpt", AttentionBackend::kUnfused));
  WorkloadProto proto = WorkloadToProto(Build("gpt", AttentionBackend::kFlash));
  proto.mutable_kinds(1)->mutable_edges()->RemoveLast();
  EXPECT_FALSE(WorkloadFromProto(proto, "w") == Build("gpt", AttentionBackend::kFlash));
}

// Files without the field say by their operators whether these are kernels.
TEST(WorkloadProtoTest, AConvolutionMakesAListOfKernelsUnlessTheFieldSaysOtherwise) {
  WorkloadProto proto = WorkloadToProto(Build("gpt", AttentionBackend::kFlash));
  const auto lists_kernels = [&] { return WorkloadFromProto(proto, "w").lists_kernels; };
  EXPECT_FALSE(lists_kernels());
  proto.set_lists_kernels(true);
  EXPECT_TRUE(lists_kernels());
  proto.clear_lists_kernels();
  EXPECT_FALSE(lists_kernels());
  constexpr int kQkv = 1;
  proto.mutable_kinds(1)->mutable_operators(kQkv)->set_kind(OperatorProto::CONVOLUTION);
  EXPECT_TRUE(lists_kernels());
  proto.set_lists_kernels(false);
  EXPECT_FALSE(lists_kernels());
}

TEST(WorkloadProtoTest, FrozenKindsEndTheBackward) {
  WorkloadProto proto = WorkloadToProto(Build("llama", AttentionBackend::kFlash));
  proto.mutable_kinds(0)->set_frozen(true);
  const Workload read = WorkloadFromProto(proto, "w");
  EXPECT_TRUE(read == Frozen(Build("llama", AttentionBackend::kFlash), {0}));
  EXPECT_FALSE(read.layer(0).has_backward());
  EXPECT_FALSE(read.layer(1).returns_gradient);
  EXPECT_TRUE(read.layer(2).returns_gradient);
  EXPECT_TRUE(WorkloadFromProto(WorkloadToProto(read), "w") == read);
}

struct BadProto {
  const char* place;  // how the error starts
  std::function<void(WorkloadProto&)> spoil;
};

OperatorProto& Op(WorkloadProto& w, int index) {
  return *w.mutable_kinds(1)->mutable_operators(index);
}

std::vector<BadProto> BadProtos() {
  constexpr int kQkv = 1, kAttention = 2;  // of a GPT block
  return {
      {"w: name: got", [](auto& w) { w.clear_name(); }},
      {"w: kinds: got none", [](auto& w) { w.clear_kinds(); }},
      {"w: kinds.frozen: got only one of layers 0 (embedding) and 4 (head) of gpt",
       [](auto& w) { w.mutable_kinds(0)->set_frozen(true); }},
      {"w: kinds.frozen: got all 5 layers of gpt",
       [](auto& w) {
         for (int kind = 0; kind < w.kinds_size(); ++kind) w.mutable_kinds(kind)->set_frozen(true);
       }},
      {"w: layers: got 0 layers", [](auto& w) { w.clear_layers(); }},
      {"w: layers: got 3", [](auto& w) { w.set_layers(0, 3); }},
      {"w: layers: got -1", [](auto& w) { w.set_layers(0, -1); }},
      {"w: hidden: got -1", [](auto& w) { w.set_hidden(-1); }},
      {"w: kv_heads: got 3", [](auto& w) { w.set_kv_heads(3); }},
      {"w: max_sequence: got 0", [](auto& w) { w.clear_max_sequence(); }},
      {"w: attention: got ATTENTION_BACKEND_UNSPECIFIED, want FLASH or UNFUSED",
       [](auto& w) { w.clear_attention(); }},
      {"w: kinds[2].name: got 'block'", [](auto& w) { w.mutable_kinds(2)->set_name("block"); }},
      {"w: kinds[0].role: got ROLE_UNSPECIFIED, want EMBEDDING, BLOCK or HEAD",
       [](auto& w) { w.mutable_kinds(0)->clear_role(); }},
      {"w: kinds[2].operators: got none", [](auto& w) { w.mutable_kinds(2)->clear_operators(); }},
      {"w: kinds[2].tied_parameters: got",
       [](auto& w) { w.mutable_kinds(2)->set_tied_parameters(1'000'000'000'000); }},
      {"w: kinds[1].operators[1].in_features: got 0",
       [](auto& w) { Op(w, kQkv).clear_in_features(); }},
      {"w: kinds[1].operators[1].heads: got 4", [](auto& w) { Op(w, kQkv).set_heads(4); }},
      {"w: kinds[1].operators[1].causal: got", [](auto& w) { Op(w, kQkv).set_causal(true); }},
      {"w: kinds[1].operators[1].forward_elements: got 1",
       [](auto& w) { Op(w, kQkv).set_forward_elements(1); }},
      {"w: kinds[1].operators[1].parameters: got -5",
       [](auto& w) { Op(w, kQkv).set_parameters(-5); }},
      {"w: kinds[1].operators[1].kernels: got 0", [](auto& w) { Op(w, kQkv).clear_kernels(); }},
      {"w: kinds[1].operators[1].chain: got 4, want none, since the operator is neither a norm nor",
       [](auto& w) { Op(w, kQkv).set_chain(OperatorProto::TANH_GELU_CHAIN); }},
      {"w: kinds[1].operators[0].chain: got 9, want a known chain",
       [](auto& w) { Op(w, 0).set_chain(static_cast<OperatorProto::Chain>(9)); }},
      {"w: kinds[1].operators[2].kv_heads: got 3",
       [](auto& w) { Op(w, kAttention).set_kv_heads(3); }},
      {"w: kinds[1].operators[2].name: got 'qkv'",
       [](auto& w) { Op(w, kAttention).set_name("qkv"); }},
      {"w: kinds[1].operators[2].kind: got 99",
       [](auto& w) { Op(w, kAttention).set_kind(static_cast<OperatorProto::Kind>(99)); }},
      {"w: kinds[1].operators[1].saved[0].split: got ROW, want TOKENS or COLUMN",
       [](auto& w) { Op(w, kQkv).mutable_saved(0)->set_split(OperatorProto::ROW); }},
      {"w: kinds[1].operators[1].saved[0].bytes_per_element: got 3",
       [](auto& w) { Op(w, kQkv).mutable_saved(0)->set_bytes_per_element(3); }},
      {"w: kinds[1].edges[0].consumer: got 0",
       [](auto& w) { w.mutable_kinds(1)->mutable_edges(0)->set_consumer(0); }},
      {"w: kinds[1].edges[0].producer: got -1",
       [](auto& w) { w.mutable_kinds(1)->mutable_edges(0)->set_producer(-1); }},
      {"w: kinds[1].edges[1].consumer: got 1",
       [](auto& w) { *w.mutable_kinds(1)->mutable_edges(1) = w.kinds(1).edges(0); }},
  };
}

TEST(WorkloadProtoTest, BadFieldsAreRefusedByPath) {
  for (const BadProto& bad : BadProtos()) {
    WorkloadProto proto = WorkloadToProto(Build("gpt", AttentionBackend::kFlash));
    bad.spoil(proto);
    try {
      WorkloadFromProto(proto, "w");
      ADD_FAILURE() << bad.place;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find(bad.place), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace stagecraft
