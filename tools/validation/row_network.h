// The network of a measured row.
#pragma once

#include <optional>
#include <string>

#include "costmodel/device.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"
#include "sim/workload/workload.h"
#include "tools/validation/completed_row.h"
#include "tools/validation/measured_row.h"

namespace stagecraft {

// How the network of a model kind is built. kClassic: by BuildClassic(), with sizes in the name.
enum class NetworkFamily { kDecoder, kEncoder, kEncoderDecoder, kClassic };

// No value for a kind that is not simulated.
std::optional<NetworkFamily> FamilyOfKind(const std::string& model_kind);

// The name that BuildClassic() has for the network of a kind; among several variants the usual one,
// if the facts name none.
std::string ClassicName(const std::string& model_kind, const RowFacts& facts);

// Whether it is an image classifier, for which one sample is one token of the plan.
bool IsImages(const std::string& model_kind);

// A forward pass alone is taken to classify, which costs next to nothing, as spans do.
EncoderHead RowHead(const CompletedRow& completed);
AttentionBackend RowAttention(const MeasuredRow& completed);
DType RowPrecision(const MeasuredRow& completed);

struct RowNetwork {
  NetworkFamily family = NetworkFamily::kDecoder;
  // The sizes of a transformer block, which FLOP conventions use; empty for kClassic.
  DecoderConfig config;
  Workload workload;
};

// The sizes of the decoder, or the common sizes of encoder and decoder.
DecoderConfig RowDecoder(const CompletedRow& completed);

// Throws an InputError with the reason if the sizes do not make a network.
RowNetwork BuildRowNetwork(const CompletedRow& completed);

}  // namespace stagecraft
