// The operators of which transformer layers are made, for the builders of decoders and encoders,
// which agree on what each operator keeps and moves.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/networks/decoder.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Stands for a producer if the operand is what the layer before handed over.
inline constexpr size_t kLayerInput = static_cast<size_t>(-1);

// Adds operators in execution order, each after the producers that it names.
class LayerBuilder {
 public:
  LayerBuilder(std::string name, LayerRole role, int64_t boundary_features) {
    kind_.name = std::move(name);
    kind_.role = role;
    kind_.boundary_features = boundary_features;
  }
  size_t Add(Operator op, std::initializer_list<size_t> producers);
  void AddEdge(size_t producer, size_t consumer) { kind_.operators.AddEdge(producer, consumer); }
  Operator& operator[](size_t vertex) { return kind_.operators[vertex]; }
  LayerKind Take() { return std::move(kind_); }

 private:
  LayerKind kind_;
};

// Normalises `features` features of each token.
Operator NormOperator(const DecoderConfig& config, std::string name, int64_t features);

// A column-split GEMM reads whole tokens, a row-split one its share of the features; the kept input
// is split in the same way.
Operator LinearOperator(std::string name, Split split, int64_t in, int64_t out, bool bias);

Operator ElementwiseOperator(std::string name, Split split, int64_t in, int64_t out);

// A lookup in a table of `rows`; tables after the first add to what is there.
Operator TableOperator(std::string name, Split split, int64_t rows, int64_t features,
                       bool adds_to_input);

// Attention itself; `query`, `key` and `value` are features over all heads.
Operator AttentionOperator(const DecoderConfig& config, AttentionBackend backend, int64_t query,
                           int64_t key, int64_t value);

// The activation of an MLP with `ffn` inner features, for `rows` routed copies of each token.
Operator ActivationOperator(const DecoderConfig& config, std::string name, int64_t ffn,
                            int64_t rows);

// Adds `branches` to the residual stream, with dropout on some of each first.
Operator ResidualOperator(const DecoderConfig& config, const std::vector<std::string>& branches,
                          std::string name);

Operator DropoutOperator(std::string name, int64_t features);

// Cross-entropy over `classes`, whose logits a tanh may cap first.
Operator LossOperator(std::string name, int64_t classes, bool is_capped = false);

// Adds a part of a transformer block that reads `input`; returns what it hands on. `mixer` is
// kAttention or kWindow.
size_t AddAttention(const DecoderConfig& config, AttentionBackend backend, Mixer mixer,
                    size_t input, LayerBuilder& layer);
// Adds attention with the projections whose sizes are in `config.mla`.
size_t AddLatentAttention(const DecoderConfig& config, AttentionBackend backend, size_t input,
                          LayerBuilder& layer);
size_t AddDenseMlp(const DecoderConfig& config, size_t input, LayerBuilder& layer);
size_t AddSparseMlp(const DecoderConfig& config, size_t input, LayerBuilder& layer);

// Adds the recurrence of a block with its projections, convolution and norm.
size_t AddSsm(const DecoderConfig& config, size_t input, LayerBuilder& layer);
size_t AddDelta(const DecoderConfig& config, size_t input, LayerBuilder& layer);
// Adds whatever mixes tokens in a block, which must not be kNone.
size_t AddMixer(const DecoderConfig& config, AttentionBackend backend, Mixer mixer, size_t input,
                LayerBuilder& layer);
// Precondition: the block has an MLP.
size_t AddMlp(const DecoderConfig& config, Mlp mlp, size_t input, LayerBuilder& layer);

// Adds `branch` to the stream, with its norm where config.norm_place says. `branch` maps an input
// vertex to an output vertex.
template <typename Branch>
size_t AddResidualBranch(const DecoderConfig& config, const std::string& name, size_t stream,
                         LayerBuilder& layer, Branch branch) {
  const NormPlace place = config.norm_place;
  const auto norm = [&](const char* prefix, size_t input) {
    return layer.Add(NormOperator(config, prefix + name + "_norm", config.hidden), {input});
  };
  const bool is_before = place == NormPlace::kBefore || place == NormPlace::kBothEnds;
  size_t output = branch(is_before ? norm("", stream) : stream);
  if (place == NormPlace::kBranchEnd) output = norm("", output);
  if (place == NormPlace::kBothEnds) output = norm("post_", output);
  const size_t sum =
      layer.Add(ResidualOperator(config, {name}, name + "_residual"), {stream, output});
  return place == NormPlace::kAfter ? norm("", sum) : sum;
}

// Adds a whole block that reads `stream`.
size_t AddOpSequence(const DecoderConfig& config, AttentionBackend backend, BlockParts parts,
                     size_t stream, LayerBuilder& layer);

// The layer with token, position and (if `token_types` > 0) segment tables, norm, and dropout.
LayerKind EmbeddingLayer(const DecoderConfig& config, std::string name, int64_t token_types);

// The layer with the final norm, the output projection (tied or not) and the loss.
LayerKind HeadLayer(const DecoderConfig& config);

// Returns everything in a workload but its layers.
Workload WorkloadFacts(const DecoderConfig& config, AttentionBackend attention, std::string name);

}  // namespace stagecraft
