// The operators that transformer layers are put together from; for the
// builders of decoders and encoders, which agree on what each keeps and moves.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/networks/decoder.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Stands for a producer where the operand is what the layer before handed over.
inline constexpr size_t kLayerInput = static_cast<size_t>(-1);

// Adds operators in execution order, each after the producers it names.
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

// `features` of each token are normalised; only the hidden ones need saying.
Operator NormOperator(const DecoderConfig& config, std::string name, int64_t features);

// A column-split product reads whole tokens, a row-split one its share of the
// features; the kept input is split alike.
Operator LinearOperator(std::string name, Split split, int64_t in, int64_t out, bool bias);

Operator ElementwiseOperator(std::string name, Split split, int64_t in, int64_t out);

// A lookup in a table of `rows`; further tables add to what is there.
Operator TableOperator(std::string name, Split split, int64_t rows, int64_t features,
                       bool adds_to_input);

// The attention proper; `query`, `key` and `value` are features over all heads.
Operator AttentionOperator(const DecoderConfig& config, AttentionBackend backend, int64_t query,
                           int64_t key, int64_t value);

// Of an MLP with `ffn` inner features, for `rows` routed copies of each token.
Operator ActivationOperator(const DecoderConfig& config, std::string name, int64_t ffn,
                            int64_t rows);

// Adds `branches` to the residual stream, dropping some of each out first.
Operator ResidualOperator(const DecoderConfig& config, const std::vector<std::string>& branches,
                          std::string name);

Operator DropoutOperator(std::string name, int64_t features);

// Cross-entropy over `classes`.
Operator LossOperator(std::string name, int64_t classes);

// Adds a part of a block that reads `input`; returns what it hands on.
size_t AddAttention(const DecoderConfig& config, AttentionBackend backend, size_t input,
                    LayerBuilder& layer);
// The projections around attention whose sizes are `config.mla`.
size_t AddLatentAttention(const DecoderConfig& config, AttentionBackend backend, size_t input,
                          LayerBuilder& layer);
size_t AddDenseMlp(const DecoderConfig& config, size_t input, LayerBuilder& layer);
size_t AddSparseMlp(const DecoderConfig& config, size_t input, LayerBuilder& layer);

enum class Mlp { kDense, kSparse };
size_t AddMlp(const DecoderConfig& config, Mlp mlp, size_t input, LayerBuilder& layer);

// Adds `branch` to the stream, with its norm where config.norm_place says.
// branch: (input vertex) -> output vertex.
template <typename Branch>
size_t AddResidualBranch(const DecoderConfig& config, const std::string& name, size_t stream,
                         LayerBuilder& layer, Branch branch) {
  const bool is_before = config.norm_place == NormPlace::kBefore;
  const auto norm = [&](size_t input) {
    return layer.Add(NormOperator(config, name + "_norm", config.hidden), {input});
  };
  const size_t output = branch(is_before ? norm(stream) : stream);
  const size_t sum =
      layer.Add(ResidualOperator(config, {name}, name + "_residual"), {stream, output});
  return is_before ? sum : norm(sum);
}

// A whole block that reads `stream`.
size_t AddBlock(const DecoderConfig& config, AttentionBackend backend, Mlp mlp, size_t stream,
                LayerBuilder& layer);

// Token, position and (where `token_types` > 0) segment tables, norm, dropout.
LayerKind EmbeddingLayer(const DecoderConfig& config, std::string name, int64_t token_types);

// Final norm, output projection (tied or not) and loss.
LayerKind HeadLayer(const DecoderConfig& config);

// All of a workload but its layers.
Workload WorkloadFacts(const DecoderConfig& config, AttentionBackend attention, std::string name);

}  // namespace stagecraft
