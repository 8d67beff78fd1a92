#include "costmodel/learned/samples/attention_kernels.h"

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "data/embedded.h"
#include "proto/attention_kernels.pb.h"

namespace stagecraft {
namespace {

constexpr const char* kFile = "attention_kernels.textproto";
static_assert(static_cast<int>(AttentionKernel::kCudnn) == OpProto::CUDNN);

}  // namespace

AttentionKernels AttentionKernels::Parse(const std::string& text, const std::string& name) {
  AttentionKernelsProto proto;
  ParseProtoText(text, name, ".textproto", &proto);
  AttentionKernels kernels;
  for (int i = 0; i < proto.kernels_size(); ++i) {
    const AttentionKernelProto& kernel = proto.kernels(i);
    const bool is_known = kernel.kernel() > OpProto::USUAL && kernel.kernel() <= OpProto::CUDNN;
    if (kernel.name_part().empty() || kernel.origin().empty() || !is_known) {
      throw InputError(name + ": kernels[" + std::to_string(i) +
                       "]: want name_part, origin and a kernel other than USUAL");
    }
    kernels.kernels_.emplace_back(kernel.name_part(),
                                  static_cast<AttentionKernel>(kernel.kernel()));
  }
  return kernels;
}

const AttentionKernels& AttentionKernels::Embedded() {
  static const AttentionKernels kernels = Parse(std::string(EmbeddedFile(kFile)), kFile);
  return kernels;
}

void ReadKernelName(const std::string& name, Op& op) {
  op.attention_kernel = AttentionKernels::Embedded().KernelOf(name);
  op.converts_keys = name.ends_with(kConvertsKeys);
}

AttentionKernel AttentionKernels::KernelOf(const std::string& name) const {
  for (const auto& [part, kernel] : kernels_) {
    if (name.find(part) != std::string::npos) return kernel;
  }
  return AttentionKernel::kUsual;
}

}  // namespace stagecraft
