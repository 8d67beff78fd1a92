// Reads the network that the arguments of Megatron-LM describe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/networks/decoder.h"
#include "tools/frameworks/option_reader.h"

namespace stagecraft {

// Returns the network of a GPT, complete, with the vocabulary padded as Megatron-LM pads it for
// this many tensor-parallel ranks. `vocabulary` replaces what the tokenizer would say; 0: not
// given. Throws an InputError that begins with `file` for sizes that are missing, and at the option
// for those that do not fit. Notes on what had to be assumed are added to `notes`.
DecoderConfig ReadMegatronNetwork(OptionReader& reader, const std::string& file,
                                  int tensor_parallel, int64_t vocabulary,
                                  std::vector<std::string>& notes);

// The values of Megatron-LM's list expressions: "([0]*3+[1]*58)" has 61. Returns none for other
// text.
std::vector<int64_t> PythonList(const std::string& text);

}  // namespace stagecraft
