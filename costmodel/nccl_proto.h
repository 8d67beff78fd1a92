// NcclTuning from its file format, proto/nccl.proto.
#pragma once

#include <string>

#include "costmodel/nccl_tuning.h"
#include "proto/nccl.pb.h"

namespace stagecraft {

// Checks that every field is there and in range; throws InputError, in which
// `file` is named: "nccl.textproto: ring.base_us.ll: got 0, want > 0".
NcclTuning NcclTuningFromProto(const NcclTuningProto& proto, const std::string& file);

// From the text of a .textproto. Throws InputError where it does not parse.
NcclTuning ParseNcclTuning(const std::string& text, const std::string& file);

}  // namespace stagecraft
