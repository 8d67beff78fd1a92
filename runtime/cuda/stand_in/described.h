// Described: what a program has told cuDNN of its operations and tensors.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/cuda/stand_in/numbers.h"

namespace stagecraft::stand_in {

// A descriptor is what it was told, an attribute at a time; it keeps the others that it was told
// of. The program's handles point to pointers to it.
struct Described;
using DescribedPointer = std::shared_ptr<Described>;
struct Described {
  cudnnBackendDescriptorType_t type;
  bool is_final = false;
  std::map<cudnnBackendAttributeName_t, std::vector<int64_t>> numbers = {};
  std::map<cudnnBackendAttributeName_t, std::vector<void*>> pointers = {};
  std::map<cudnnBackendAttributeName_t, std::vector<DescribedPointer>> others = {};

  const Described& at(cudnnBackendAttributeName_t name) const { return *others.at(name)[0]; }
  int64_t number(cudnnBackendAttributeName_t name) const { return numbers.at(name)[0]; }
};

// A graph with the memory of its tensors.
struct Bound {
  std::vector<Numbers> read, written;
  double flops = 0;
  bool is_aligned = true;  // as the descriptors of the tensors say
};
// `pack` has an address for each of them.
Bound Bind(const Described& graph, const Described& pack);

}  // namespace stagecraft::stand_in
