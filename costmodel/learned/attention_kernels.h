// AttentionKernels: which measured kernels of attention training runs too.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Immutable; safe from any thread.
class AttentionKernels {
 public:
  // data/attention_kernels.textproto in the binary, read at the first call.
  static const AttentionKernels& Embedded();
  // Reads an AttentionKernelsProto in text format. Throws InputError, `name` first.
  static AttentionKernels Parse(const std::string& text, const std::string& name);

  // Whether a training framework runs the kernel of this name, though a serving one was
  // measured.
  bool AreCommon(const std::string& kernel) const;

 private:
  std::vector<std::string> parts_;
};

}  // namespace stagecraft
