// AttentionKernels: what the name of a measured attention kernel says.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "costmodel/op.h"

namespace stagecraft {

// Immutable; may be used from any thread.
class AttentionKernels {
 public:
  // Returns the data/attention_kernels.textproto in the binary, which is read at the first call.
  static const AttentionKernels& Embedded();
  // Reads an AttentionKernelsProto in text format. Throws an InputError that begins with `name`.
  static AttentionKernels Parse(const std::string& text, const std::string& name);

  // Returns the kernel of this name; kUsual if the name is not known.
  AttentionKernel KernelOf(const std::string& name) const;

 private:
  std::vector<std::pair<std::string, AttentionKernel>> kernels_;  // by part of a name
};

// Sets the fields of an attention op that the name of its sample tells: which kernel ran, and
// whether it converted keys, which names say at their end.
inline constexpr const char* kConvertsKeys = " fp8 keys";
void ReadKernelName(const std::string& name, Op& op);

}  // namespace stagecraft
