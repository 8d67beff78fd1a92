// KernelModel: what one of our kernels does, and how long it takes, on the GPU that is played.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/cuda/stand_in/virtual_time.h"

namespace stagecraft::stand_in {

struct Launch {
  int64_t blocks = 1, threads = 1;
  std::vector<int> multiprocessors;  // those on which it may run
  int of_gpu = 1;                    // number of multiprocessors of the GPU
};

// Rates of the played GPU; a part has its multiprocessors' share of them. Nothing else is modelled:
// a kernel takes its start, and the time of the bytes that it moves or of what it calculates; a
// GEMM whose rows are not aligned calculates no faster than its loads bring elements. The
// work of libraries is spread over as many multiprocessors as their kernel was chosen for, which
// take turns if there are fewer.
constexpr Nanoseconds kKernelStart = 2'000;
constexpr double kBytesPerNanosecond = 3000;  // of all multiprocessors together
constexpr double kFlopsPerNanosecond = 700e3;
// If every load brings one element: 460 FLOP per clock on 132 multiprocessors of 1.98 GHz.
constexpr double kUnalignedFlopsPerNanosecond = 120.2e3;
Nanoseconds TimeToMove(double bytes, int multiprocessors, int of_gpu);
Nanoseconds TimeToCalculate(double flops, int multiprocessors, int of_gpu, int chosen_for);

struct KernelModel {
  std::string_view name;  // "Sum", "RunRows<Softmax>"
  // Makes the work of a launch, which points to these arguments.
  Work (*bind)(const Launch& launch, void** arguments);
};

// Returns the model of a kernel; nullptr if it has none.
const KernelModel* FindKernel(std::string_view name);

}  // namespace stagecraft::stand_in
