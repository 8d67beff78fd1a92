// Writes launch scripts of Megatron-LM and configurations of Megatron-Bridge and NeMo.
#pragma once

#include "tools/frameworks/framework_writer.h"

namespace stagecraft {

// The arguments for a network. Throws an InputError that names what Megatron-LM's GPT lacks.
OptionList MegatronNetworkOptions(const DecoderConfig& network);
// The arguments for a plan that Megatron-core can run; notes are added to `notes`.
OptionList MegatronPlanOptions(const LaunchJob& job, std::vector<std::string>& notes);

// A bash script.
LaunchText WriteMegatron(const LaunchJob& job);
// A YAML file with the groups of Megatron-Bridge: model, train, ddp and so on.
LaunchText WriteNemo(const LaunchJob& job);

}  // namespace stagecraft
