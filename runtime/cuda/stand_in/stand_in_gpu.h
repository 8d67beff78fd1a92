// StandInGpu: the GPU that the stand-in plays, and what is wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// A call that fails: the `nth` of this function, counted from 1; 0: none fails.
struct FailingCall {
  std::string function;  // "cudaMalloc", "cublasLtMatmul"
  int nth = 0;
};

// What copies and kernels do on the GPU that is played, besides taking their time.
enum class StandInData {
  // They do their work. All memory that they touch is checked: it must be allocated and not yet
  // freed, in the order of streams.
  kCalculated,
  // What they touch is checked as above, but nothing is calculated, which is quick for networks of
  // any size. Only what the program may look at is done: copies and fills of a few kilobytes, and
  // the kernel that notes its multiprocessors.
  kChecked,
  // Nothing is calculated, nor is any memory checked.
  kIgnored,
};

struct StandInGpu {
  std::string name = "NVIDIA H100 80GB HBM3";
  int gpus = 1;
  // Multiprocessors, as the driver splits them.
  int groups = 16, group_size = 8, rest = 4;
  size_t memory = size_t{80} << 30;  // bytes
  size_t cache = size_t{50} << 20;   // bytes
  int call_nanoseconds = 1'500;      // of the host for any call; a launch takes about as long
  StandInData data = StandInData::kCalculated;
  bool has_green_contexts = true;        // an older driver has none
  bool driver_is_old = false;            // too old for the runtime
  bool graphs_keep_to_parts = true;      // otherwise the kernels of a graph run on the whole GPU
  bool cudnn_compares_contexts = false;  // refuses a stream of another context than its handle's
  bool cudnn_refuses_parts = false;      // refuses a part's streams under any context
  bool cudnn_knows_parts = true;         // may be asked for engines for fewer multiprocessors
  // What the sensors of the GPU say.
  int watts = 412;
  bool is_throttled = false;  // heat holds its clock down
  // Libraries, by the beginning of their names, and functions of libraries.
  std::set<std::string> missing = {};
  FailingCall fails = {};

  int multiprocessors() const { return groups * group_size + rest; }
  bool checks_memory() const { return data != StandInData::kIgnored; }
};

// A GPU on which nothing is calculated and all memory that is touched is checked.
StandInGpu CheckedGpu();

// Reads "groups=15 data=checked missing=libcudnn fail=cudaMalloc:3": words, each of which changes
// one field. Numbers: gpus, groups, rest, watts, call in nanoseconds, memory and cache in MiB.
// Claims, yes or no: green-contexts, driver-is-old, graphs-keep-to-parts, cudnn-compares-contexts,
// cudnn-refuses-parts, cudnn-knows-parts, throttled. The others: data (yes: calculated, checked, or
// no: ignored), missing, fail, and name=NVIDIA_H200 with underscores for blanks. Throws InputError
// for any other word.
StandInGpu ParseStandInGpu(std::string_view words);

// Begins anew with such a GPU: everything made before is forgotten. A program that never calls this
// has the GPU that the variable STAGECRAFT_STAND_IN describes.
void UseStandIn(const StandInGpu& gpu);

// What was made and not destroyed, one sentence each.
std::vector<std::string> StandInLeaks();
// How often each function was called.
std::map<std::string, int> StandInCalls();

// The number of gates that nobody opened before they gave up: on a GPU each of them holds the
// program for kLongestGate.
int StandInGatesRunOut();

// What GEMMs found among the operands that were looked at.
struct OperandCount {
  int64_t numbers = 0;
  int64_t not_finite = 0;
};
OperandCount StandInOperands();

}  // namespace stagecraft
