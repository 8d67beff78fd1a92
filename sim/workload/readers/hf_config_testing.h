// A config.json of which a test wants the decoder.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/readers/hf_config.h"

namespace stagecraft {

// ParseHuggingFaceNetwork() where only a decoder will do.
inline DecoderConfig ParseHuggingFaceConfig(const std::string& json_text,
                                            const std::string& file_name) {
  NetworkConfig network = ParseHuggingFaceNetwork(json_text, file_name);
  if (DecoderConfig* decoder = std::get_if<DecoderConfig>(&network)) return std::move(*decoder);
  throw InputError(file_name + ": model_type: got \"" + NetworkFamilyName(network) +
                   "\", want that of a decoder");
}

}  // namespace stagecraft
