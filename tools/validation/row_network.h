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

// How a model kind is built. kClassic: by BuildClassic, sizes in the name.
enum class NetworkFamily { kDecoder, kEncoder, kEncoderDecoder, kClassic };

// Nothing for a kind that is not simulated.
std::optional<NetworkFamily> FamilyOfKind(const std::string& model_kind);

// What BuildClassic calls the network of a kind; of several variants the one that is
// usual, where the facts name none.
std::string ClassicName(const std::string& model_kind, const RowFacts& facts);

// A classifier of images: one sample is one token of the plan.
bool IsImages(const std::string& model_kind);

// A forward pass alone is taken to classify, which costs as next to nothing as spans do.
EncoderHead RowHead(const CompletedRow& completed);
AttentionBackend RowAttention(const MeasuredRow& completed);
DType RowPrecision(const MeasuredRow& completed);

struct RowNetwork {
  NetworkFamily family = NetworkFamily::kDecoder;
  // Sizes of a block, which FLOP conventions count; empty for kClassic.
  DecoderConfig config;
  Workload workload;
};

// The decoder's, or the encoder's and decoder's common sizes.
DecoderConfig RowDecoder(const CompletedRow& completed);

// Throws InputError with the reason where sizes do not make a network.
RowNetwork BuildRowNetwork(const CompletedRow& completed);

}  // namespace stagecraft
