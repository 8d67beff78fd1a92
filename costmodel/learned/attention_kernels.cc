#include "costmodel/learned/attention_kernels.h"

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/attention_kernels.pb.h"

namespace stagecraft {
namespace {

constexpr const char* kFile = "attention_kernels.textproto";

}  // namespace

AttentionKernels AttentionKernels::Parse(const std::string& text, const std::string& name) {
  AttentionKernelsProto proto;
  ParseProtoText(text, name, ".textproto", &proto);
  AttentionKernels kernels;
  for (int i = 0; i < proto.common_size(); ++i) {
    const AttentionKernelProto& kernel = proto.common(i);
    if (kernel.name_part().empty() || kernel.origin().empty()) {
      throw InputError(name + ": common[" + std::to_string(i) +
                       "]: want name_part and origin, none of them empty");
    }
    kernels.parts_.push_back(kernel.name_part());
  }
  return kernels;
}

const AttentionKernels& AttentionKernels::Embedded() {
  static const AttentionKernels kernels = Parse(std::string(EmbeddedFile(kFile)), kFile);
  return kernels;
}

bool AttentionKernels::AreCommon(const std::string& kernel) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const std::string& part) {
    return kernel.find(part) != std::string::npos;
  });
}

}  // namespace stagecraft
