// The checked-in data files, inside the binary: no path is needed to find them.
#pragma once

#include <span>
#include <string_view>

namespace stagecraft {

// The contents of a file by its name under data/: "gpus.textproto",
// "workloads/gpt3.json". The name must be in EmbeddedFileNames(). The view is
// valid for the life of the program.
std::string_view EmbeddedFile(std::string_view name);

// The fitted cost model, data/cost_models/kernels.pb.
std::string_view EmbeddedCostModel();

// The fitted network model, data/cost_models/collectives.pb.
std::string_view EmbeddedNetworkModel();

// The same tables as gpus.textproto, nodes.textproto and stacks.textproto, each as a serialised
// message of the type that its head names.
std::string_view EmbeddedGpus();
std::string_view EmbeddedNodes();
std::string_view EmbeddedStacks();

// All names, in byte order.
std::span<const std::string_view> EmbeddedFileNames();

}  // namespace stagecraft
