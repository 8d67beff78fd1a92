// The network of a measured row.
#pragma once

#include <optional>
#include <string>

#include "costmodel/device.h"
#include "sim/decoder.h"
#include "sim/encoder.h"
#include "sim/workload.h"
#include "tools/validation/measured_row.h"

namespace stagecraft {

// How a model kind is built. kClassic: by BuildClassic, sizes in the name.
enum class NetworkFamily { kDecoder, kEncoder, kEncoderDecoder, kClassic };

// Nothing for a kind that is not simulated.
std::optional<NetworkFamily> FamilyOfKind(const std::string& model_kind);

// What BuildClassic calls the network of a kind; `model` is the source's own
// name, which tells variants apart. "" where it has none.
std::string ClassicName(const std::string& model_kind, const std::string& model);

// A classifier of images: one sample is one token of the plan.
bool IsImages(const std::string& model_kind);

// Answers are spans in SQuAD; a forward pass alone is taken to classify, which
// costs the same next to nothing.
EncoderHead RowHead(const MeasuredRow& completed);
AttentionBackend RowAttention(const MeasuredRow& completed);
DType RowPrecision(const MeasuredRow& completed);

struct RowNetwork {
  NetworkFamily family = NetworkFamily::kDecoder;
  // Sizes of a block, which FLOP conventions count; empty for kClassic.
  DecoderConfig config;
  Workload workload;
};

// The decoder's, or the encoder's and decoder's common sizes.
DecoderConfig RowDecoder(const MeasuredRow& completed);

// Throws InputError with the reason where sizes do not make a network.
RowNetwork BuildRowNetwork(const MeasuredRow& completed);

}  // namespace stagecraft
