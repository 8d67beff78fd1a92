#include "costmodel/learned/kernel_families.h"

#include "costmodel/learned/families/attention.h"
#include "costmodel/learned/families/fp32_gemm.h"
#include "costmodel/learned/families/streams.h"
#include "costmodel/learned/families/tensor_gemm.h"

namespace stagecraft {

std::span<const KernelFamily* const> KernelFamilies() {
  static const KernelFamily* const families[] = {
      &TensorGemmFamily(),       &Fp32LinearFamily(), &Fp32BmmFamily(), &AttentionFamily(),
      &AttentionOf8BitsFamily(), &StreamFamily(),     &NormFamily(),    &SoftmaxFamily()};
  return families;
}

const KernelFamily* FamilyOf(const Op& op) {
  for (const KernelFamily* family : KernelFamilies()) {
    if (family->Covers(op)) return family;
  }
  return nullptr;
}

}  // namespace stagecraft
