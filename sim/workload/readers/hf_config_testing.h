// Reads the decoder of a config.json, for tests.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/readers/hf_config.h"

namespace stagecraft {

// Like ParseHuggingFaceNetwork(), but throws InputError for a network that is no decoder.
inline DecoderConfig ParseHuggingFaceConfig(const std::string& json_text,
                                            const std::string& file_name) {
  NetworkConfig network = ParseHuggingFaceNetwork(json_text, file_name);
  if (DecoderConfig* decoder = std::get_if<DecoderConfig>(&network)) return std::move(*decoder);
  throw InputError(file_name + ": model_type: got \"" + NetworkFamilyName(network) +
                   "\", want that of a decoder");
}

}  // namespace stagecraft
