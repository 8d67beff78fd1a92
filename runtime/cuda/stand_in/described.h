// Described: what a program has told cuDNN about its operations and tensors.
#pragma once

#include <cudnn.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/cuda/stand_in/numbers.h"

namespace stagecraft::stand_in {

// What a cuDNN descriptor was told, one attribute at a time: whole numbers and enumerators,
// addresses, and other descriptors, which it keeps alive. A cudnnBackendDescriptor_t of the program
// points to a DescribedPointer.
struct Described;
using DescribedPointer = std::shared_ptr<Described>;
struct Described {
  cudnnBackendDescriptorType_t type;
  bool is_final = false;  // cudnnBackendFinalize() was called: may be read and no longer set
  std::map<cudnnBackendAttributeName_t, std::vector<int64_t>> numbers = {};
  std::map<cudnnBackendAttributeName_t, std::vector<void*>> pointers = {};
  std::map<cudnnBackendAttributeName_t, std::vector<DescribedPointer>> others = {};

  // Return the first value of an attribute. Throw std::out_of_range if it was never set.
  const Described& at(cudnnBackendAttributeName_t name) const { return *others.at(name)[0]; }
  int64_t number(cudnnBackendAttributeName_t name) const { return numbers.at(name)[0]; }
};

// A graph with the memory of its tensors, except for intermediate results of its operations.
struct Bound {
  std::vector<Numbers> read, written;
  double flops = 0;        // of its GEMMs, two for each multiplication
  bool is_aligned = true;  // whether every address is aligned as its tensor's descriptor says
};

// Gives each tensor of the operation graph the address that the variant pack `pack` has for its
// unique id. Ends the program if it has none.
Bound Bind(const Described& graph, const Described& pack);

}  // namespace stagecraft::stand_in
