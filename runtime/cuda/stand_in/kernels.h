// KernelModel: what a kernel of ours does, and how long it takes, on a GPU that is not there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/cuda/stand_in/virtual_time.h"

namespace stagecraft::stand_in {

struct Launch {
  int64_t blocks = 1, threads = 1;
  std::vector<int> multiprocessors;  // on which it may run
  int of_gpu = 1;                    // how many the GPU has
};

// Rates of the GPU that is played; a part has its multiprocessors' share of them. Nothing else is
// modelled: a kernel's time is its start and what it moves, or calculates. What libraries calculate
// is spread over as many multiprocessors as the kernel was chosen for, which take turns if there
// are fewer.
constexpr Nanoseconds kKernelStart = 2'000;
constexpr double kBytesPerNanosecond = 3000;  // of all multiprocessors together
constexpr double kFlopsPerNanosecond = 700e3;
Nanoseconds TimeToMove(double bytes, int multiprocessors, int of_gpu);
Nanoseconds TimeToCalculate(double flops, int multiprocessors, int of_gpu, int chosen_for);

struct KernelModel {
  std::string_view name;  // "Sum", "RunRows<Softmax>"
  // Takes the arguments to which a launch points.
  Work (*bind)(const Launch& launch, void** arguments);
};

// nullptr for a kernel that has none.
const KernelModel* FindKernel(std::string_view name);

}  // namespace stagecraft::stand_in
