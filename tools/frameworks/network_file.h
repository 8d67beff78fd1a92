// Writes a network as a file that --model takes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/workload/networks/decoder.h"

namespace stagecraft {

// Returns a config.json of Hugging Face that reads as this network, whatever the name of its family
// is; no value if none does. The network must be complete.
std::optional<nlohmann::ordered_json> HuggingFaceConfig(const DecoderConfig& config);

// Returns the text of a .json file that --model takes: a config.json or, if no family of Hugging
// Face is like the network, all its operators.
std::string NetworkFileText(const DecoderConfig& config, const std::string& name);

}  // namespace stagecraft
