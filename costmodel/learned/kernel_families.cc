#include "costmodel/learned/kernel_families.h"

#include <algorithm>

#include "costmodel/learned/families/attention.h"
#include "costmodel/learned/families/fp32_gemm.h"
#include "costmodel/learned/families/hosts.h"
#include "costmodel/learned/families/streams.h"
#include "costmodel/learned/families/tensor_gemm.h"

namespace stagecraft {

std::span<const KernelFamily* const> KernelFamilies() {
  static const KernelFamily* const families[] = {&TensorGemmFamily(),
                                                 &Fp32LinearFamily(),
                                                 &Fp32BmmFamily(),
                                                 &AttentionFamily(),
                                                 &AttentionOf8BitsFamily(),
                                                 &FusedAttentionFamily(),
                                                 &FusedAttentionOf8BitsFamily(),
                                                 &TritonAttentionFamily(),
                                                 &StreamFamily(),
                                                 &NormFamily(),
                                                 &SoftmaxFamily(),
                                                 &HostProductFamily(),
                                                 &HostAttentionFamily(),
                                                 &HostMoveFamily(),
                                                 &HostSparseFamily()};
  return families;
}

const KernelFamily* FamilyOf(const Op& op, const Device& device) {
  const bool is_host = device.generation == Generation::kHost;
  for (const KernelFamily* family : KernelFamilies()) {
    if (family->IsForHosts() == is_host && family->Covers(op, device)) return family;
  }
  return nullptr;
}

size_t IndexOf(const KernelFamily& family) {
  const auto families = KernelFamilies();
  return static_cast<size_t>(std::find(families.begin(), families.end(), &family) -
                             families.begin());
}

}  // namespace stagecraft
