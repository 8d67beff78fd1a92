// Decoders of given sizes, for tests.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/workload/networks/decoder.h"

namespace stagecraft {

// Zeros are what Completed() replaces.
struct DecoderSizes {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_size = 0;
  int64_t ffn = 0;
  int64_t vocab = 0;
  int64_t max_sequence = 0;
};

// Returns DecoderOfFamily() with these sizes, not completed.
inline DecoderConfig SizedDecoder(std::string_view family, const DecoderSizes& sizes) {
  DecoderConfig config = DecoderOfFamily(family);
  config.layers = sizes.layers;
  config.hidden = sizes.hidden;
  config.heads = sizes.heads;
  config.kv_heads = sizes.kv_heads;
  config.head_size = sizes.head_size;
  config.ffn = sizes.ffn;
  config.vocab = sizes.vocab;
  config.max_sequence = sizes.max_sequence;
  return config;
}

}  // namespace stagecraft
