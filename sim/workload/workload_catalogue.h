// The workloads that can be named: shipped presets, files and shapes.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/networks/decoder.h"
#include "sim/workload/readers/hf_config.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the network that a name stands for. The first of these that fits wins:
//   - a preset or one of its aliases, whole and in any letter case:
//     "llama-3-70b", "llama3-70b", "meta-llama/Meta-Llama-3-70B";
//   - for LoadWorkload() only, a name of classics.h, "resnet50" or "vgg16@160",
//     an ONNX model (.onnx) or PipeDream's profile of one (graph.txt);
//   - a shape "megatron:LAYERSxHIDDENxHEADS", such as "megatron:24x2304x24":
//     the GPT of Narayanan et al., "Efficient large-scale language model
//     training on GPU clusters using Megatron-LM" (SC21), table 1, with 51,200
//     tokens of vocabulary and 2,048 positions;
//   - a Hugging Face config.json, or a directory that holds one. Write
//     "./gpt2" for a directory called like a preset;
//   - a WorkloadProto (.textproto, .yaml, .pb, or .json with the key "kinds"),
//     for LoadWorkload() only: its attention is the file's own.
// Throws InputError for anything else, with the nearest names.
NetworkConfig LoadNetworkConfig(const std::string& name_or_path);

// The same, but throws InputError for a network that is no decoder.
DecoderConfig LoadDecoderConfig(const std::string& name_or_path);

// Returns the workload of that configuration, named after the preset, the shape or the path.
Workload LoadWorkload(const std::string& name_or_path, AttentionBackend attention);

// Returns the names of the presets, sorted, without aliases.
std::vector<std::string> WorkloadNames();

}  // namespace stagecraft
