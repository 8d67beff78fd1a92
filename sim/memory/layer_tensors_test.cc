#include "sim/memory/layer_tensors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/memory/chunk_tensors.h"
#include "sim/memory/memory_testing.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"

namespace stagecraft {
namespace {

// The input has 4 features and the output 8; the input stays.
TEST(LayerTensorsTest, AForwardLeavesWhatItsBackwardNeeds) {
  const ChunkTensors chunk = Trace(OneLinear(), Spec());
  EXPECT_EQ(chunk[Phase::kForward].summary.peak, 12 * kFeature);
  EXPECT_EQ(chunk[Phase::kForward].summary.net, 4 * kFeature);
  // Gradients of 8 and 4 features exist beside the input.
  EXPECT_EQ(chunk[Phase::kBackward].summary.peak, 12 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, -4 * kFeature);
}

// 32 weights of 16 bits take 512 B, the least that any tensor takes.
TEST(LayerTensorsTest, WithoutFusionTheWeightGradientIsATensor) {
  FrameworkMemory framework;
  framework.fuses_weight_gradients = false;
  const ChunkTensors chunk = Trace(OneLinear(), Spec(), framework);
  EXPECT_EQ(chunk[Phase::kBackward].summary.peak, 12 * kFeature + 512);
}

TEST(LayerTensorsTest, TheFirstPartOfASplitBackwardKeepsTheOperandsOfTheSecond) {
  const ChunkTensors chunk = Trace(OneLinear(), Spec());
  // The input existed before, and the gradient of the output stays too.
  EXPECT_EQ(chunk[Phase::kBackwardInput].summary.net, 8 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackwardWeight].summary.net, -12 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackwardWeight].summary.peak, 0);
}

TEST(LayerTensorsTest, InferenceKeepsNothing) {
  const ChunkTensors chunk = Trace(OneLinear(), Spec(), {}, true);
  EXPECT_EQ(chunk[Phase::kForward].summary.net, 0);
  EXPECT_EQ(chunk[Phase::kForward].summary.peak, 12 * kFeature);
}

constexpr int64_t kVocabulary = 64;

LayerKind Head() {
  LayerKind head;
  head.operators.Add(Linear(4, kVocabulary));
  head.operators[0].reads_layer_input = true;
  Operator loss{.name = "loss", .kind = OperatorKind::kLoss, .split = Split::kColumn};
  loss.in_features = kVocabulary;
  loss.saved = {{"softmax", kVocabulary, 4, Split::kColumn, false}};
  head.operators.Add(loss);
  head.operators.AddEdge(0, 1);
  return head;
}

// The copy of the logits in 32 bits is beside logits and softmax in the forward. Eager gradients of
// log-softmax and of that copy are beside the softmax, which was there before, in the backward.
TEST(LayerTensorsTest, LossesThatCopyLogitsTakeMore) {
  FrameworkMemory framework;
  framework.cross_entropy = CrossEntropy::kCopies;
  const ChunkTensors copies = Trace(Head(), Spec(), framework);
  EXPECT_EQ(copies[Phase::kForward].summary.peak, (4 + 5 * kVocabulary) * kFeature);
  EXPECT_EQ(copies[Phase::kBackward].summary.peak, kVocabulary * kFeature);
  framework.cross_entropy = CrossEntropy::kEager;
  const ChunkTensors eager = Trace(Head(), Spec(), framework);
  EXPECT_EQ(eager[Phase::kForward].summary, copies[Phase::kForward].summary);
  EXPECT_EQ(eager[Phase::kBackward].summary.peak, 4 * kVocabulary * kFeature);
  // 32-bit logits are no copy, and their gradient is that of the loss itself.
  ShardSpec wide = Spec();
  wide.precision = DType::kFp32;
  const ChunkTensors of_wide = Trace(Head(), wide, framework);
  EXPECT_EQ(of_wide[Phase::kForward].summary.peak, (8 + 4 * kVocabulary) * kFeature);
  EXPECT_EQ(of_wide[Phase::kBackward].summary.peak, 4 * kVocabulary * kFeature);
}

// Attention of one head keeps its softmax, a mask and the output of dropout: 5 bytes for each of
// 256 x 256 scores.
LayerKind Attention() {
  LayerKind layer;
  Operator op{.name = "attention", .kind = OperatorKind::kAttention, .split = Split::kColumn};
  op.in_features = op.out_features = op.heads = op.head_size = 1;
  op.reads_layer_input = true;
  op.saved = {{"softmax_output", 1, 0, Split::kColumn, true},
              {"softmax_dropout_mask", 1, 1, Split::kColumn, true},
              {"softmax_dropout_output", 1, 0, Split::kColumn, true}};
  layer.operators.Add(op);
  layer.boundary_features = 1;
  return layer;
}

// The output of dropout is gone when its gradient has been read, and a fused softmax needs no
// tensor for the gradient of the scores; one of its own has 32 bits.
TEST(LayerTensorsTest, GradientsOfScoresFollowOneAnother) {
  ShardSpec spec = Spec();
  spec.attention = AttentionBackend::kUnfused;
  constexpr int64_t kScores = 256 * kFeature;
  FrameworkMemory framework;
  const auto backward = [&] {
    return Trace(Attention(), spec, framework)[Phase::kBackward].summary;
  };
  EXPECT_EQ(backward().peak, kScores + kFeature);
  EXPECT_EQ(backward().net, -5 * kScores / 2);
  framework.fuses_softmax = false;
  EXPECT_EQ(backward().peak, 3 * kScores / 2 + kFeature);
  EXPECT_EQ(backward().net, -7 * kScores / 2);
}

// What is handed on has 8 features.
TEST(LayerTensorsTest, AKeptOutputStaysUntilTheBackward) {
  const LayerTensors tensors = TraceLayer(OneLinear(), Spec(), {}, false, {.keeps_output = true});
  ChunkLayer one;
  one.tensors = &tensors;
  const ChunkTensors chunk = JoinLayers({&one, 1});
  EXPECT_EQ(chunk[Phase::kForward].summary.net, 12 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, -12 * kFeature);
  // The gradient of that output stays for the second part, the output itself does not.
  EXPECT_EQ(chunk[Phase::kBackwardInput].summary.net, 0);
  EXPECT_EQ(chunk[Phase::kBackwardWeight].summary.net, -12 * kFeature);
}

TEST(LayerTensorsTest, GradientsWithoutBuffersAreMadeOnce) {
  const LayerTensors tensors = TraceLayer(OneLinear(), Spec(), {}, false, {.gradient_bytes = 4});
  ChunkLayer one;
  one.tensors = &tensors;
  const ChunkTensors chunk = JoinLayers({&one, 1});
  for (const Phase phase : {Phase::kBackward, Phase::kBackwardWeight}) {
    EXPECT_EQ(chunk[phase].summary.net_gradient, 512);
    EXPECT_EQ(chunk[phase].later.net_gradient, 0);
    EXPECT_EQ(chunk[phase].summary.net, chunk[phase].later.net + 512);
  }
  EXPECT_EQ(chunk[Phase::kBackwardInput].summary, chunk[Phase::kBackwardInput].later);
}

// In both passes, logits of 2 bytes exist beside their 32-bit softmax.
TEST(LayerTensorsTest, TheHeadTakesSixBytesALogit) {
  const ChunkTensors chunk = Trace(Head(), Spec());
  EXPECT_EQ(chunk[Phase::kForward].summary.peak, (4 + 3 * kVocabulary) * kFeature);
  EXPECT_EQ(chunk[Phase::kForward].summary.net, (4 + 2 * kVocabulary) * kFeature);
  EXPECT_EQ(chunk[Phase::kBackward].summary.peak, kVocabulary * kFeature);
}

// All tensors of the layer exist again while its backward runs.
TEST(LayerTensorsTest, RecomputationMovesTheLayerIntoItsBackward) {
  const LayerKind block = TinyDecoder(AttentionBackend::kFlash).layer(1);
  ShardSpec spec = Spec();
  const PassSummary kept = Trace(block, spec)[Phase::kForward].summary;
  spec.recompute = Recompute::kFull;
  const PassSummary backward = Trace(block, spec)[Phase::kBackward].summary;
  constexpr int64_t kInput = 2 * 256 * 64;
  EXPECT_GE(backward.peak, kept.net - kInput);
  EXPECT_EQ(backward.net, -kInput);
}

// Returns what a pass of a single layer makes and drops, including the forward that runs again.
std::vector<TensorEvent> EventsOf(const LayerTensors& layer, Phase phase) {
  std::vector<TensorEvent> events = layer.passes[static_cast<size_t>(phase)].events;
  if (IsBackward(phase)) {
    events.insert(events.begin() + layer.before_repeated, layer.repeated.events.begin(),
                  layer.repeated.events.end());
  }
  return events;
}

// Checks that every tensor that is made is dropped, that only such tensors are dropped, and none
// twice.
void CheckLives(const LayerKind& layer, const ShardSpec& spec, const FrameworkMemory& framework) {
  const LayerTensors tensors = TraceLayer(layer, spec, framework, false);
  for (const auto& way : {std::vector{Phase::kForward, Phase::kBackward},
                          {Phase::kForward, Phase::kBackwardInput, Phase::kBackwardWeight}}) {
    std::vector<int64_t> held(tensors.tensors);
    for (const Phase phase : way) {
      for (const TensorEvent& event : EventsOf(tensors, phase)) {
        int64_t& size = held[event.tensor];
        ASSERT_EQ(size, event.change > 0 ? 0 : -event.change) << layer.name;
        size += event.change;
      }
      for (int t = tensors.kept; t < tensors.tensors; ++t) EXPECT_EQ(held[t], 0) << layer.name;
    }
    for (const int64_t size : held) EXPECT_EQ(size, 0) << layer.name;
  }
}

TEST(LayerTensorsTest, EveryLayerDropsWhatItMade) {
  std::vector<Workload> workloads;
  for (const AttentionBackend attention : {AttentionBackend::kFlash, AttentionBackend::kUnfused}) {
    workloads.push_back(TinyDecoder(attention));
    for (const char* name : {"resnet50", "gnmt-8", "transformer-xl-base"}) {
      workloads.push_back(*BuildClassic(name, attention));
    }
    EncoderDecoderConfig t5 = EncoderDecoderOfFamily("megatron_t5");
    t5.block.layers = t5.decoder_layers = 2;
    t5.block.hidden = 64;
    t5.block.heads = 4;
    t5.block.vocab = 128;
    t5.encoder_sequence = t5.block.max_sequence = 256;
    t5.decoder_sequence = 64;
    workloads.push_back(BuildEncoderDecoder(Completed(t5), attention, "t5"));
  }
  FrameworkMemory unfused;
  unfused.fuses_weight_gradients = unfused.fuses_softmax = false;
  unfused.copies_attention_output = unfused.casts_weights = true;
  unfused.cross_entropy = CrossEntropy::kEager;
  for (const Workload& workload : workloads) {
    for (const LayerKind& layer : workload.kinds) {
      for (const Recompute recompute :
           {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
        ShardSpec spec = Spec();
        spec.attention = workload.attention;
        spec.recompute = recompute;
        CheckLives(layer, spec, {});
        spec.tensor = spec.micro_batch = 2;
        spec.sequence_parallel = true;
        CheckLives(layer, spec, unfused);
      }
    }
  }
}

}  // namespace
}  // namespace stagecraft
