// Builds the workloads of BERT-like text encoders, vision transformers and encoder-decoders from
// their sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/networks/decoder.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What a text encoder predicts. kMaskedTokens: every token, by a transform and the tied vocabulary.
// kPretraining: that and whether two segments belong together. kSpan: two numbers per token
// (SQuAD).
enum class EncoderHead { kMaskedTokens, kPretraining, kSpan };

// `block` has the sizes of a transformer block and of the tables; attention sees both directions.
struct EncoderConfig {
  DecoderConfig block;
  int64_t token_types = 0;  // rows of the segment table
  EncoderHead head = EncoderHead::kMaskedTokens;
  friend bool operator==(const EncoderConfig&, const EncoderConfig&) = default;
};

// Returns the switches of a family: "bert" and "roberta" normalise sums, "megatron_bert" normalises
// inputs and, once more, the last output. All sizes of the block are zero. Throws InputError for
// other names.
EncoderConfig EncoderOfFamily(std::string_view family);

// Returns every problem of a configuration whose block is completed.
std::vector<std::string> FindErrors(const EncoderConfig& config);

// Builds a workload whose layers are embedding, transformer blocks and head. Throws an InputError
// whose text starts with `name` if FindErrors() finds something.
Workload BuildEncoder(const EncoderConfig& config, AttentionBackend attention, std::string name);

// An image is cut into patches of one token each; a further token is classified.
struct VisionConfig {
  DecoderConfig block;  // vocab and max_sequence are set by Completed()
  int64_t image = 0;    // pixels along a side
  int64_t patch = 0;
  int64_t channels = 3;
  int64_t classes = 1000;
  int64_t Patches() const { return (image / patch) * (image / patch); }
  int64_t Tokens() const { return Patches() + 1; }
  friend bool operator==(const VisionConfig&, const VisionConfig&) = default;
};

// Returns the switches of a vision transformer, with all sizes zero except those with defaults.
VisionConfig VisionTransformer();
VisionConfig Completed(VisionConfig config);
std::vector<std::string> FindErrors(const VisionConfig& config);

// Every operator has Tokens() rows per sample, whatever the plan's sequence; this number is the
// max_sequence of the workload, which has no vocabulary.
Workload BuildVision(const VisionConfig& config, AttentionBackend attention, std::string name);

// An encoder whose output every decoder block attends to. `block` has what both sides share; its
// `layers` are those of the encoder.
struct EncoderDecoderConfig {
  DecoderConfig block;
  int64_t decoder_layers = 0;  // 0: as many as the encoder's
  // Rows of a table of biases for each head, which each side adds to its scores by distance; 0:
  // none.
  int64_t relative_buckets = 0;
  // Tokens per sample; 0: the plan's sequence. The decoder's may be given only with the encoder's.
  int64_t encoder_sequence = 0;
  int64_t decoder_sequence = 0;
  MoeConfig decoder_moe;  // the encoder's is block.moe
  friend bool operator==(const EncoderDecoderConfig&, const EncoderDecoderConfig&) = default;
};

// Returns the switches of a family: "t5" (no biases, RMS norm, relative positions) or "megatron_t5"
// (the GPT block with learned positions, and a bias of the head).
EncoderDecoderConfig EncoderDecoderOfFamily(std::string_view family);
EncoderDecoderConfig Completed(EncoderDecoderConfig config);
std::vector<std::string> FindErrors(const EncoderDecoderConfig& config);

// Builds a workload with the layers encoder_embedding, encoder blocks, decoder_embedding (after the
// final norm of the encoder, with a copy of the token table), decoder blocks, and head. From
// decoder_embedding on each layer hands on the encoder's output beside its own. Rows of the
// boundary are exact if both sequences are given or neither is.
Workload BuildEncoderDecoder(const EncoderDecoderConfig& config, AttentionBackend attention,
                             std::string name);

// Sets the rows per sample of every operator that has none of its own, and of the boundary.
void SetPositions(LayerKind& kind, int64_t positions);

}  // namespace stagecraft
