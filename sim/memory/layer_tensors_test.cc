#include "sim/memory/layer_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/memory/chunk_tensors.h"
#include "sim/workload/networks/classics.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

// With 256 rows of 16 bits a feature takes 512 B, so that nothing is rounded.
constexpr int64_t kFeature = 512;

ShardSpec Spec() {
  ShardSpec spec;
  spec.sequence = 256;
  return spec;
}

Operator Linear(int64_t in, int64_t out) {
  Operator op{.name = "linear", .kind = OperatorKind::kLinear, .split = Split::kColumn};
  op.in_features = in;
  op.out_features = out;
  op.parameters = in * out;
  op.saved = {{.name = "linear_input", .features = in}};
  return op;
}

LayerKind OneLinear() {
  LayerKind layer;
  layer.operators.Add(Linear(4, 8));
  layer.operators[0].reads_layer_input = true;
  layer.boundary_features = 8;
  return layer;
}

ChunkTensors Trace(const LayerKind& layer, const ShardSpec& spec,
                   const FrameworkMemory& framework = {}, bool forward_only = false) {
  const LayerTensors tensors = TraceLayer(layer, spec, framework, forward_only);
  ChunkLayer one;
  one.tensors = &tensors;
  one.repeats = RecomputesWhole(layer, spec) || RepeatsOperators(layer, spec) ? 1 : 0;
  return JoinLayers({&one, 1});
}

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

// 32 weights: 64 bytes in 16 bits, 128 in 32, both rounded up to 512.
TEST(LayerTensorsTest, AutocastKeepsWeightsFromForwardToBackward) {
  FrameworkMemory framework;
  framework.casts_weights = true;
  const ChunkTensors chunk = Trace(OneLinear(), Spec(), framework);
  EXPECT_EQ(chunk[Phase::kForward].summary.net, 4 * kFeature + 512);
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, -4 * kFeature - 512);
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

Workload Decoder(AttentionBackend attention) {
  const DecoderConfig config = SizedDecoder(
      "gpt", {.layers = 1, .hidden = 64, .heads = 4, .vocab = 128, .max_sequence = 256});
  return BuildDecoder(config, attention, "tiny");
}

// A block keeps 34 bytes for each token and hidden feature, and 5 for each pair of tokens and head:
// Korthikanti et al., 2022, section 4.1.
TEST(LayerTensorsTest, ABlockKeepsWhatTheFormulaSays) {
  const LayerKind block = Decoder(AttentionBackend::kUnfused).layer(1);
  constexpr int64_t kTokens = 34 * 256 * 64;
  constexpr int64_t kScores = 5 * 4 * 256 * 256;
  ShardSpec spec = Spec();
  spec.attention = AttentionBackend::kUnfused;
  EXPECT_EQ(Trace(block, spec)[Phase::kForward].summary.net, kTokens + kScores);
  spec.recompute = Recompute::kSelective;
  EXPECT_EQ(Trace(block, spec)[Phase::kForward].summary.net, kTokens);
  spec.recompute = Recompute::kFull;
  EXPECT_EQ(Trace(block, spec)[Phase::kForward].summary.net, 2 * 256 * 64);
}

// Of queries, keys, values, projection, up and down, the first and every second one: 1 + 1 + 4
// times the hidden size. What fused attention makes stays, too: an output and 4 bytes for each of 4
// heads.
TEST(LayerTensorsTest, RepeatedOperatorsKeepMoreThanTheInputAndLessThanAll) {
  const LayerKind block = Decoder(AttentionBackend::kFlash).layer(1);
  const auto kept = [&](Recompute recompute) {
    ShardSpec spec = Spec();
    spec.recompute = recompute;
    return Trace(block, spec)[Phase::kForward].summary.net;
  };
  constexpr int64_t kInput = 2 * 256 * 64;
  EXPECT_EQ(kept(Recompute::kFull), kInput);
  EXPECT_EQ(kept(Recompute::kOperators), (1 + 6 + 1) * kInput + 4 * 4 * 256);
  EXPECT_LT(kept(Recompute::kOperators), kept(Recompute::kNone));
}

// Queries, values, gate and down: (1 + 1 + 4 + 1) times the hidden size. Nobody reads the last of
// them but the residual addition, which a compiler sees.
TEST(LayerTensorsTest, ACompilerDropsOutputsThatNoBackwardReads) {
  const DecoderConfig config = SizedDecoder(
      "llama",
      {.layers = 1, .hidden = 64, .heads = 4, .ffn = 256, .vocab = 128, .max_sequence = 256});
  const LayerKind block = BuildDecoder(config, AttentionBackend::kFlash, "tiny").layer(1);
  ShardSpec spec = Spec();
  spec.recompute = Recompute::kOperators;
  FrameworkMemory framework;
  const auto kept = [&] { return Trace(block, spec, framework)[Phase::kForward].summary.net; };
  constexpr int64_t kInput = 2 * 256 * 64;
  EXPECT_EQ(kept(), (1 + 7 + 1) * kInput + 4 * 4 * 256);
  framework.compiles = true;
  EXPECT_EQ(kept(), (1 + 6 + 1) * kInput + 4 * 4 * 256);
}

int64_t Kept(const LayerKind& block, const ShardSpec& spec) {
  const ChunkTensors chunk = Trace(block, spec);
  const int64_t kept = chunk[Phase::kForward].summary.net;
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, -kept);
  const int64_t halves =
      chunk[Phase::kBackwardInput].summary.net + chunk[Phase::kBackwardWeight].summary.net;
  EXPECT_EQ(halves, -kept);
  return kept;
}

// A Llama block of width 64 with an MLP of width 192 keeps, in features of 16 bits: the inputs of
// two norms, of the GEMMs behind them and of the projection (5 x 64), queries, keys and values
// (3 x 64), the input of SwiGLU (2 x 192) and its output (192); and 4 heads x 32 bits of softmax.
TEST(LayerTensorsTest, PartsThatAreComputedAgainAreNotKept) {
  const DecoderConfig config = SizedDecoder("llama", {.layers = 1,
                                                      .hidden = 64,
                                                      .heads = 4,
                                                      .kv_heads = 4,
                                                      .ffn = 192,
                                                      .vocab = 128,
                                                      .max_sequence = 256});
  const LayerKind block = BuildDecoder(config, AttentionBackend::kFlash, "tiny").layer(1);
  ShardSpec spec = Spec();
  constexpr int64_t kAll = (5 * 64 + 3 * 64 + 3 * 192 + 4 * 2) * kFeature;
  EXPECT_EQ(Kept(block, spec), kAll);
  spec.recomputed_parts.norms = true;
  EXPECT_EQ(Kept(block, spec), kAll - 2 * 64 * kFeature);
  spec.recomputed_parts.activations = true;
  EXPECT_EQ(Kept(block, spec), kAll - (2 * 64 + 192) * kFeature);
  spec.recomputed_parts.latents = true;  // there are none
  EXPECT_EQ(Kept(block, spec), kAll - (2 * 64 + 192) * kFeature);
  spec.recompute = Recompute::kFull;
  EXPECT_EQ(Kept(block, spec), 64 * kFeature);
}

// Inputs of GEMMs that their weight gradients alone need, and that of SwiGLU, take 1 byte and a
// scale of 4 bytes for every 128; attention's output is read by its own backward, too.
TEST(LayerTensorsTest, EightBitsTakeHalfOfWhatWaitsForWeightGradients) {
  const DecoderConfig config = SizedDecoder("llama", {.layers = 1,
                                                      .hidden = 64,
                                                      .heads = 4,
                                                      .kv_heads = 4,
                                                      .ffn = 192,
                                                      .vocab = 128,
                                                      .max_sequence = 256});
  const LayerKind block = BuildDecoder(config, AttentionBackend::kFlash, "tiny").layer(1);
  ShardSpec spec = Spec();
  spec.precision = DType::kFp8;
  const int64_t sixteen = Kept(block, spec);
  spec.keeps_8_bits = true;
  constexpr int64_t kNarrow = 2 * 64 + 3 * 192;
  EXPECT_EQ(sixteen - Kept(block, spec), kNarrow * kFeature / 2 * (128 - 4) / 128);
}

// The up-projections of latent attention and their rotation make queries, keys and values.
TEST(LayerTensorsTest, LatentsAreKeptInPlaceOfQueriesKeysAndValues) {
  DecoderConfig config = SizedDecoder(
      "deepseek_v3",
      {.layers = 1, .hidden = 64, .heads = 4, .ffn = 128, .vocab = 128, .max_sequence = 256});
  config.mla = {
      .query_rank = 24, .kv_rank = 16, .plain_size = 16, .rotary_size = 8, .value_size = 16};
  config.moe = {.experts = 8, .experts_per_token = 2, .ffn = 32, .shared_ffn = 32};
  const LayerKind block = BuildDecoder(config, AttentionBackend::kFlash, "tiny").layer(1);
  ShardSpec spec = Spec();
  const int64_t all = Kept(block, spec);
  spec.recomputed_parts.latents = true;
  EXPECT_EQ(all - Kept(block, spec), (2 * 4 * 24 + 4 * 16) * kFeature);
}

// All tensors of the layer exist again while its backward runs.
TEST(LayerTensorsTest, RecomputationMovesTheLayerIntoItsBackward) {
  const LayerKind block = Decoder(AttentionBackend::kFlash).layer(1);
  ShardSpec spec = Spec();
  const PassSummary kept = Trace(block, spec)[Phase::kForward].summary;
  spec.recompute = Recompute::kFull;
  const PassSummary backward = Trace(block, spec)[Phase::kBackward].summary;
  constexpr int64_t kInput = 2 * 256 * 64;
  EXPECT_GE(backward.peak, kept.net - kInput);
  EXPECT_EQ(backward.net, -kInput);
}

TEST(LayerTensorsTest, TwoSamplesWhoseLayoutDiffersKeepTheAttentionOutputTwice) {
  const LayerKind block = Decoder(AttentionBackend::kFlash).layer(1);
  FrameworkMemory framework;
  framework.copies_attention_output = true;
  ShardSpec spec = Spec();
  const auto kept = [&](const FrameworkMemory& f) {
    return Trace(block, spec, f)[Phase::kForward].summary.net;
  };
  EXPECT_EQ(kept(framework), kept({}));
  spec.micro_batch = 2;
  EXPECT_EQ(kept(framework), kept({}) + 2 * 2 * 256 * 64);
}

// A copy of this layer's weights exists while this layer and the one before it run.
TEST(LayerTensorsTest, ShardedWeightsAreGatheredOneLayerAhead) {
  const LayerTensors tensors = TraceLayer(OneLinear(), Spec(), {}, true);
  constexpr Bytes kWeights(1 << 20);
  ChunkLayer layer;
  layer.tensors = &tensors;
  layer.gathered = kWeights;
  const std::vector<ChunkLayer> layers(3, layer);
  const PassSummary forward = JoinLayers(layers)[Phase::kForward].summary;
  EXPECT_EQ(forward.peak, 2 * kWeights.count() + 12 * kFeature);
  EXPECT_EQ(forward.net, 0);
}

// Gradients of a layer go into a buffer when its backward ends, which is there until the next one's
// ends; a gather has a buffer beside the weights.
TEST(LayerTensorsTest, BuffersOfCollectivesComeFromPoolsOfTheirOwn) {
  const LayerTensors tensors = TraceLayer(OneLinear(), Spec(), {}, false);
  ChunkLayer layer;
  layer.tensors = &tensors;
  layer.gathered = layer.gather_buffer = layer.gradients = Bytes(2 << 20);
  layer.reduce_buffer = Bytes(4 << 20);
  layer.made = Bytes(1 << 20);
  const std::vector<ChunkLayer> layers(3, layer);
  const ChunkTensors chunk = JoinLayers(layers);
  std::array<int64_t, kTensorPools> held = {}, most = {};
  for (const TensorEvent& event : chunk[Phase::kBackward].tensors.events) {
    const auto pool = static_cast<size_t>(event.pool);
    held[pool] += event.change;
    most[pool] = std::max(most[pool], held[pool]);
  }
  EXPECT_EQ(most[static_cast<size_t>(TensorPool::kGather)], 2 * (2 << 20));
  // What is made of the gradients stays there, too.
  EXPECT_EQ(most[static_cast<size_t>(TensorPool::kReduce)], 2 * (4 << 20) + 3 * (1 << 20));
  EXPECT_EQ(held[static_cast<size_t>(TensorPool::kGather)], 0);
  EXPECT_EQ(held[static_cast<size_t>(TensorPool::kReduce)], 3 * (1 << 20));
  EXPECT_EQ(chunk[Phase::kBackward].summary.net_gradient, 3 * (1 << 20));
  EXPECT_EQ(chunk[Phase::kBackward].later.net_gradient, 0);
}

// The gradients of the second layer wait for the first one's backward; then all are copied into one
// buffer, which leaves a share of them behind.
TEST(LayerTensorsTest, GradientsThatAreReducedLastStayForTheWholeBackward) {
  const LayerTensors none;
  std::vector<ChunkLayer> layers(2);
  for (ChunkLayer& layer : layers) layer.tensors = &none;
  layers[1].last_gradients = Bytes(1024);
  layers[0].gradients = Bytes(512);
  layers[0].last_gradients = Bytes(512);
  layers[0].last_buffer = Bytes(2048);
  layers[0].last_made = Bytes(512);
  const ChunkTensors chunk = JoinLayers(layers);
  std::vector<int64_t> changes;
  for (const TensorEvent& event : chunk[Phase::kBackward].tensors.events) {
    changes.push_back(event.change);
  }
  EXPECT_EQ(changes, (std::vector<int64_t>{1024, 512, 512, -512, 2048, -512, -1024, 512, -2048}));
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, 512);
  EXPECT_EQ(chunk[Phase::kBackward].later.net, 0);
  EXPECT_TRUE(chunk[Phase::kForward].tensors.events.empty());
}

TEST(LayerTensorsTest, WeightsThatStayAreNotGatheredForTheBackward) {
  const LayerTensors none;
  ChunkLayer layer;
  layer.tensors = &none;
  layer.gather_buffer = Bytes(1024);
  layer.gathers_again = false;
  const ChunkTensors chunk = JoinLayers({&layer, 1});
  EXPECT_EQ(chunk[Phase::kForward].summary.peak, 1024);
  EXPECT_EQ(chunk[Phase::kBackward].summary.peak, 0);
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

// Two layers of 8 features in and out that recompute together keep the first one's input. In the
// backward the second one's input, its output and the gradient of its output exist at once.
TEST(LayerTensorsTest, ARangeKeepsOneInputAndRunsAgainAsAWhole) {
  LayerKind layer = OneLinear();
  layer.operators[0] = Linear(8, 8);
  layer.operators[0].reads_layer_input = true;
  ShardSpec spec = Spec();
  spec.recompute = Recompute::kFull;
  const LayerTensors first = TraceLayer(layer, spec, {}, false);
  const LayerTensors second = TraceLayer(layer, spec, {}, false, {.keeps_input = false});
  std::vector<ChunkLayer> layers(2);
  layers[0].tensors = &first;
  layers[1].tensors = &second;
  layers[1].repeats = 2;
  const ChunkTensors chunk = JoinLayers(layers);
  EXPECT_EQ(chunk[Phase::kForward].summary.net, 8 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackward].summary.peak, 24 * kFeature);
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, -8 * kFeature);
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
    workloads.push_back(Decoder(attention));
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
