// Builds the network of a measured row.
#pragma once

#include <optional>
#include <string>

#include "costmodel/device.h"
#include "sim/plan/attention_choice.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"
#include "sim/workload/workload.h"
#include "tools/validation/completed_row.h"
#include "tools/validation/measured_row.h"

namespace stagecraft {

// Says how the network of a model kind is built. A kClassic one is built by BuildClassic(), whose
// names imply sizes; a kMixture, a mixture of experts, by its name, since columns do not describe
// the experts.
enum class NetworkFamily { kDecoder, kEncoder, kEncoderDecoder, kClassic, kMixture };

// Returns the family of a model kind; no value for a kind that is not simulated.
std::optional<NetworkFamily> FamilyOfKind(const std::string& model_kind);

// Returns the name that BuildClassic() has for the network of a kind: the one that the facts name,
// else the usual one among several variants.
std::string ClassicName(const std::string& model_kind, const RowFacts& facts);

// Returns the name that the catalogue of networks has for a mixture: the one that the facts name,
// or that of the row in small letters, with hyphens for spaces and without what is in parentheses.
std::string MixtureName(const MeasuredRow& row, const RowFacts& facts);

// Fills in the sizes of a mixture that the row does not state. Throws an InputError if the network
// is not known, or if the row states other sizes; only its number of layers and its vocabulary may
// be others.
void FillMixture(const RowFacts& facts, MeasuredRow& row);

// Returns whether samples are images or utterances, each of which is one token of the plan.
bool IsOneToken(const std::string& model_kind);

// A row with forward passes alone is taken to classify, for which the head for spans stands: both
// cost next to nothing.
EncoderHead RowHead(const CompletedRow& completed);
AttentionChoice RowAttention(const MeasuredRow& completed);
DType RowPrecision(const MeasuredRow& completed);

struct RowNetwork {
  NetworkFamily family = NetworkFamily::kDecoder;
  // These are the sizes of a transformer block, which FLOP conventions need; they are empty for
  // kClassic and kMixture.
  DecoderConfig config;
  Workload workload;
};

// Returns the sizes of a decoder (NetworkFamily::kDecoder).
DecoderConfig RowDecoder(const CompletedRow& completed);

// Throws an InputError with the reason if the sizes do not make a network.
RowNetwork BuildRowNetwork(const CompletedRow& completed);

}  // namespace stagecraft
