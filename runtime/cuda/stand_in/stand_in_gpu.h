// StandInGpu: the GPU that the stand-in plays, and its faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// A call that fails: the `nth` call of this function, counted from 1; 0: none fails.
struct FailingCall {
  std::string function;  // "cudaMalloc", "cublasLtMatmul"
  int nth = 0;
};

// What copies and kernels do on the played GPU, besides taking their time.
enum class StandInData {
  // They do their work. All memory that they touch is checked: it must be allocated, and not yet
  // freed, at their place in the order of the stream.
  kCalculated,
  // What they touch is checked in the same way, but nothing is calculated, which is quick for
  // networks of any size. Only what the program may read is done: copies and fills of a few
  // kilobytes, and the kernel that notes its multiprocessors.
  kChecked,
  // Nothing is calculated, and no memory is checked.
  kIgnored,
};

struct StandInGpu {
  std::string name = "NVIDIA H100 80GB HBM3";
  int gpus = 1;
  // The groups of multiprocessors into which the driver splits the GPU, and the rest.
  int groups = 16, group_size = 8, rest = 4;
  size_t memory = size_t{80} << 30;  // bytes
  size_t cache = size_t{50} << 20;   // bytes
  int call_nanoseconds = 1'500;      // host time of any call; about that of a launch
  StandInData data = StandInData::kCalculated;
  bool has_green_contexts = true;    // false for an older driver
  bool driver_is_old = false;        // the driver is too old for the runtime
  bool graphs_keep_to_parts = true;  // false: the kernels of a graph run on the whole GPU
  // cuDNN refuses a stream of another context than its handle's.
  bool cudnn_compares_contexts = false;
  bool cudnn_refuses_parts = false;  // cuDNN refuses the streams of a part under every context
  bool cudnn_knows_parts = true;     // cuDNN can be asked for engines for fewer multiprocessors
  // Readings of the GPU's sensors.
  int watts = 412;
  bool is_throttled = false;  // heat holds the clock down
  // What is missing: libraries, by the beginnings of their names, and functions of libraries.
  std::set<std::string> missing = {};
  FailingCall fails = {};

  int multiprocessors() const { return groups * group_size + rest; }
  bool checks_memory() const { return data != StandInData::kIgnored; }
};

// Returns a GPU on which nothing is calculated, and all memory that is touched is checked.
StandInGpu CheckedGpu();

// Reads words such as "groups=15 data=checked missing=libcudnn fail=cudaMalloc:3", each of which
// changes one field. With numbers: GPUs, groups, rest, watts, call in nanoseconds, memory and
// cache in MiB. With yes or no: green-contexts, driver-is-old, graphs-keep-to-parts,
// cudnn-compares-contexts, cudnn-refuses-parts, cudnn-knows-parts, throttled. The others are data
// (yes: calculated, checked, or no: ignored), missing, fail, and name=NVIDIA_H200 with underscores
// for blanks. Throws InputError for any other word.
StandInGpu ParseStandInGpu(std::string_view words);

// Starts again with this GPU: everything made before is forgotten. A program that never calls this
// has the GPU that the environment variable STAGECRAFT_STAND_IN describes.
void UseStandIn(const StandInGpu& gpu);

// Returns what was made and not destroyed, as one sentence each.
std::vector<std::string> StandInLeaks();
// Returns how often each function was called.
std::map<std::string, int> StandInCalls();

// Returns the number of gates that were not opened before they gave up: on a GPU each of them holds
// the program up for kLongestGate.
int StandInGatesRunOut();

// Counts the numbers that were looked at in operands of GEMMs and attention.
struct OperandCount {
  int64_t numbers = 0;
  int64_t not_finite = 0;
};
OperandCount StandInOperands();

}  // namespace stagecraft
