// AttentionKernels: which of the measured attention kernels training runs, too.
#pragma once

#include <string>
#include <vector>

namespace stagecraft {

// Immutable; may be used from any thread.
class AttentionKernels {
 public:
  // Returns the data/attention_kernels.textproto in the binary, which is read at the first call.
  static const AttentionKernels& Embedded();
  // Reads an AttentionKernelsProto in text format. Throws an InputError that begins with `name`.
  static AttentionKernels Parse(const std::string& text, const std::string& name);

  // Whether training frameworks run the kernel of this name, too, although it was measured in a
  // serving framework.
  bool AreCommon(const std::string& kernel) const;

 private:
  std::vector<std::string> parts_;
};

}  // namespace stagecraft
