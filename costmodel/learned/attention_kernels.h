// AttentionKernels: which measured kernels of attention are also those of training.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Immutable; may be used from any thread.
class AttentionKernels {
 public:
  // The data/attention_kernels.textproto that is embedded in the binary, read at the first call.
  static const AttentionKernels& Embedded();
  // Reads an AttentionKernelsProto in text format. Throws an InputError that begins with `name`.
  static AttentionKernels Parse(const std::string& text, const std::string& name);

  // Whether a training framework runs the kernel of this name too, although it was measured in a
  // serving one.
  bool AreCommon(const std::string& kernel) const;

 private:
  std::vector<std::string> parts_;
};

}  // namespace stagecraft
