// Workload: the network being trained, as a DAG of operators, per token and before any sharding. It
// knows nothing of devices, plans or time, except how long profiled operators took on the device
// where they were measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

enum class OperatorKind {
  kEmbedding,    // table lookup: `out_features` read and written per token
  kNorm,         // layer norm or RMS norm, not softmax
  kLinear,       // in_features -> out_features GEMM
  kAttention,    // scores, softmax, context: heads x head_size
  kElementwise,  // rotary, activations, residual additions, dropout
  kLoss,         // cross-entropy over a vocabulary-split row
  kConvolution,  // in_features = input channels of a group x window -> out_features channels
  kRecurrent,    // a linear that takes the rows of a sample one after another (LSTM step)
  kDispatch,     // sends rows to the ranks that hold their experts, and
  kCombine,      // back: an all-to-all of in_features per routed row
  kProfiled,     // takes for each row the time that a profile of some GPU states
};

// How tensor parallelism of degree t divides an operator.
enum class Split {
  kTokens,  // whole on every rank; with sequence parallelism tokens / t
  kColumn,  // output features (or heads, or vocabulary columns of the head) / t
  kRow,     // input features (or rows of the embedding table) / t; the output
            // is a partial sum, so every rank writes all of it
};

// Names parts of a block that a framework can compute again in the backward by themselves, since
// they are cheap for what their outputs take.
enum class BlockPart {
  kNone,
  kNorm,
  kLatentUp,    // from latent vectors to queries, keys and values
  kActivation,  // between the GEMMs of an MLP or of experts
};

// What the code of a network computes by one kernel for each of several sums and products of
// tensors if nothing fuses them; kNone: a library has a kernel for it, or the code is not known to
// do so.
enum class KernelChain {
  kNone,
  kRmsNorm,          // in 32 bits: casts, square, mean, inverse root, product; times the weights
  kRotation,         // halves are swapped by negation and concatenation, two products and a sum
  kGatedActivation,  // an activation, and its product with the other half
  kTanhGelu,         // GELU by its formula with a cube and a tanh (GPT-2 in Transformers)
};

// A tensor kept from forward to backward.
struct SavedTensor {
  std::string name;
  int64_t features = 0;          // elements per token, unsharded
  int bytes_per_element = 0;     // 0: as wide as the training precision
  Split split = Split::kTokens;  // kTokens or kColumn
  // Whether it holds one row per key: `features` is then heads, and the elements per token are
  // heads x keys. Only unfused attention keeps such tensors, and selective recomputation drops
  // them.
  bool per_key = false;
  // Whether it is kept for nothing but the gradient of its operator's weights, so that an operator
  // with frozen weights does not keep it.
  bool only_for_weights = false;
  friend bool operator==(const SavedTensor&, const SavedTensor&) = default;
};

// One operator of one layer. Forward FLOPs per row: linear, convolution and recurrent 2·in·out,
// attention 4·heads·head_size·keys (half of it if causal); for a GEMM of experts the FLOPs of one
// expert's GEMM times experts_per_token.
struct Operator {
  std::string name;
  OperatorKind kind = OperatorKind::kElementwise;
  Split split = Split::kTokens;
  int64_t in_features = 0;
  int64_t out_features = 0;
  int heads = 0;        // attention: query heads
  int kv_heads = 0;     // attention: key/value heads
  int head_size = 0;    // attention
  bool causal = false;  // attention
  // Rows of one sample if they are not the plan's sequence: pixels of a feature map, tokens of an
  // encoder. 0: the sequence.
  int64_t positions = 0;
  int64_t keys = 0;  // attention: rows of keys per sample; 0: as many as queries
  // Convolution: groups of channels, and input elements read per sample, which windows share.
  int groups = 1;
  int64_t input_elements = 0;
  // GEMMs of experts: how many experts hold a matrix each (`parameters` counts all of them), and
  // through how many of them a row goes. Divided by expert parallelism. 0: no experts.
  int experts = 0;
  int experts_per_token = 0;
  // The router first chooses `groups_per_token` of `expert_groups` equal groups of experts, and the
  // experts of a row among these. 1 and 1: any experts.
  int expert_groups = 1;
  int groups_per_token = 1;
  BlockPart part = BlockPart::kNone;
  int64_t parameters = 0;  // weights and biases, unsharded; tied ones too
  // Whether one operand is what the layer before handed over; such operands have no edge, because
  // edges stay inside a layer.
  bool reads_layer_input = false;
  // Elements read and written per token, forward and backward, unsharded, as one fused kernel would
  // move them; only for norm, elementwise, embedding and loss. They are counted in elements of the
  // training precision at 16 bits: a mask of one byte is half an element, an fp32 value two.
  int64_t forward_elements = 0;
  int64_t backward_elements = 0;
  KernelChain chain = KernelChain::kNone;  // only for norm and elementwise
  int kernels = 1;                         // launches of the forward pass in an eager framework
  Duration forward_time = {};              // kProfiled only, per row
  Duration backward_time = {};
  std::vector<SavedTensor> saved = {};

  // What the state of its layer makes of it (ApplyLayerStates).
  double row_share = 1;      // of its rows that it computes, in [0, 1]
  double score_density = 1;  // attention: of the scores that it computes, in [0, 1]
  // Linear: how many entries each of its matrices has, if these alone are stored; `parameters`
  // counts them and no others.
  std::optional<int64_t> nonzeros = {};
  bool is_frozen = false;  // its parameters are not trained, although others of its layer are
  // GEMMs of experts, dispatch and combine: the rows that each expert gets, as shares of all;
  // empty: as the plan says.
  std::vector<double> expert_rows = {};
  friend bool operator==(const Operator&, const Operator&) = default;
};

// Whether Winograd's algorithm suits a convolution: its windows have three rows and columns and
// move by one element, so that every input element is part of nine of them.
bool SuitsWinograd(const Operator& op);

// How many times fewer multiplications a convolution that it suits then takes, transforms included.
// For tiles of two outputs, 2.25 (Lavin and Gray, "Fast algorithms for convolutional neural
// networks", 2016) is the limit; PipeDream's profile of VGG-16 on V100 shows this.
inline constexpr double kWinogradSaving = 1.6;

// Operators in execution order, with an edge from each to those that read its output.
class OperatorGraph {
 public:
  // Returns its index.
  size_t Add(Operator op);
  void AddEdge(size_t producer, size_t consumer);

  size_t size() const { return operators_.size(); }
  Operator& operator[](size_t index) { return operators_[index]; }
  const Operator& operator[](size_t index) const { return operators_[index]; }
  auto begin() { return operators_.begin(); }
  auto end() { return operators_.end(); }
  auto begin() const { return operators_.begin(); }
  auto end() const { return operators_.end(); }
  // In ascending order.
  const std::vector<size_t>& producers(size_t consumer) const { return producers_[consumer]; }
  const std::vector<size_t>& consumers(size_t producer) const { return consumers_[producer]; }
  friend bool operator==(const OperatorGraph&, const OperatorGraph&) = default;

 private:
  std::vector<Operator> operators_;
  std::vector<std::vector<size_t>> producers_, consumers_;  // by operator
};

// A unit that a plan can place: embedding, transformer block, head. Layers of equal `kind` are
// identical in everything but their place.
enum class LayerRole { kEmbedding, kBlock, kHead };

struct LayerKind {
  std::string name;
  LayerRole role = LayerRole::kBlock;
  OperatorGraph operators;
  int64_t boundary_features = 0;   // elements per row handed to the next layer
  int64_t boundary_positions = 0;  // rows per sample handed on; 0: the plan's sequence
  // Parameters of this kind that belong to another layer (tied head): present on this layer's rank
  // and in its operators, but one tensor of the network.
  int64_t tied_parameters = 0;
  // ApplyLayerStates() sets these. Whether its parameters are not trained, and whether its backward
  // returns a gradient to the layer before it, because some layer before it is trained, or none is
  // frozen.
  bool is_frozen = false;
  bool returns_gradient = true;
  bool is_cached = false;     // what it would hand on is known, so that its forward does not run
  double boundary_share = 1;  // of its rows that it hands on, in [0, 1]

  bool has_backward() const { return !is_frozen || returns_gradient; }
  bool Trains(const Operator& op) const { return !is_frozen && !op.is_frozen; }
  bool TrainsTied() const;  // whether its tied parameters are trained
  // The number of its parameters without the tied ones, and of those that are trained.
  int64_t Parameters() const;
  int64_t TrainedParameters() const;
  friend bool operator==(const LayerKind&, const LayerKind&) = default;
};

// How attention treats its score matrices: it keeps them or fuses them away. This is a choice of
// the software stack, so it is made when the workload is built.
enum class AttentionBackend { kFlash, kUnfused };

struct Workload {
  std::string name;
  std::vector<LayerKind> kinds;
  std::vector<int> layers;  // index into `kinds`, in execution order
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  int heads = 0;
  int kv_heads = 0;
  int64_t max_sequence = 0;  // learned positions or the config's limit
  bool tied_embeddings = false;
  AttentionBackend attention = AttentionBackend::kFlash;
  // Whether its operators are the kernels that a framework launches, one by one, as in networks of
  // images; else each stands for one fused kernel.
  bool lists_kernels = false;

  int layer_count() const { return static_cast<int>(layers.size()); }
  const LayerKind& layer(int index) const { return kinds[layers[index]]; }
  int op_sequence_count() const;  // layers of role kBlock
  // Whether it is a profile, whose times were measured in 32 bits on one GPU type. Nothing else is
  // known about its operators, so they cannot be divided.
  bool is_profile() const;
  bool has_frozen_layers() const;  // or layers of which a part is frozen
  // The exact number of parameters, and of those that are trained; tied tensors count once.
  int64_t Parameters() const;
  int64_t TrainedParameters() const;
  // FLOPs of the GEMMs of one layer's forward, per token of the plan's sequence; conventions as
  // below.
  FlopCount ForwardFlops(int layer, int64_t sequence) const;
  FlopCount ForwardFlopsPerToken(int64_t sequence) const;  // of all layers
  // FLOPs of one training step per token of the plan's sequence, without recomputation: three times
  // the forward FLOPs of every GEMM, less the gradients that frozen layers do not need, with causal
  // attention as half the square; logits are counted, the embedding lookup is not, nor is what the
  // states of layers leave out (Operator::row_share and below).
  FlopCount TrainingFlopsPerToken(int64_t sequence) const;
  friend bool operator==(const Workload&, const Workload&) = default;
};

}  // namespace stagecraft
