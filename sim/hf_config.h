// Reads the config.json that Hugging Face keeps beside a network's weights.
#pragma once

#include <string>

#include "sim/decoder.h"

namespace stagecraft {

// Understands model_type llama, gpt2, gpt_neox and nemotron (or the
// class in `architectures` where model_type is absent), the synonyms of other
// frameworks for the common keys, and a decoder nested under `text_config`;
// the vision part of such a file is not counted. Dropout is on where one of
// its probabilities is above zero. Keys that change neither shape nor cost are
// ignored. The result is complete: no size is zero.
//
// Throws InputError, its text starting with `file_name`; where keys are
// missing it lists every one with its accepted spellings.
DecoderConfig ParseHuggingFaceConfig(const std::string& json_text, const std::string& file_name);

}  // namespace stagecraft
