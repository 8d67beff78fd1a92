// Small mixtures of experts, for tests.
#pragma once

#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns a decoder of which every block has this many experts, not completed. An expert is as wide
// as the MLP of a block without experts.
inline DecoderConfig MixtureConfig(int layers, int experts, int experts_per_token) {
  DecoderConfig config = SizedDecoder("mixtral", {.layers = layers,
                                                  .hidden = 256,
                                                  .heads = 8,
                                                  .ffn = 512,
                                                  .vocab = 1024,
                                                  .max_sequence = 512});
  config.moe.experts = experts;
  config.moe.experts_per_token = experts_per_token;
  return config;
}

// By default each block has eight experts, two of them for each token.
inline Workload MakeMixtureOfExperts(int layers, int experts = 8, int experts_per_token = 2) {
  return BuildDecoder(MixtureConfig(layers, experts, experts_per_token), AttentionBackend::kFlash,
                      "tiny-experts");
}

}  // namespace stagecraft
