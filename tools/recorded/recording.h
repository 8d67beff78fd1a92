// Recording: what a profiler wrote about one process of a training job, whatever its format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/op.h"
#include "sim/schedule/kernel_profile.h"
#include "sim/schedule/task_tag.h"

namespace stagecraft {

// The latest instant of a trace, in nanoseconds since 1970, which is in 2039: sums and differences
// of such instants and durations fit into 64 bits.
inline constexpr int64_t kMostTraceNs = 2'200'000'000'000'000'000;

// Gives equal texts the same number, counted from 0 in the order in which they are first seen.
class NameTable {
 public:
  int32_t Intern(std::string_view text);
  const std::vector<std::string>& names() const { return names_; }
  const std::string& operator[](int32_t name) const { return names_[name]; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t> index_;
};

// Work between two instants of a thread of the host, or of a stream of a GPU: an operator, a range
// that the program marked.
struct RecordedSlice {
  int64_t start_ns = 0, end_ns = 0;
  int64_t thread = 0;
  int32_t name = 0;         // into Recording::names
  int64_t sequence = -1;    // the same for an operator and for its backward; -1: not known
  int64_t external = -1;    // the id by which kernels name the operator that launched them
  int32_t gemm = -1;        // into Recording::gemms
  int32_t attention = -1;   // into Recording::attentions
  int32_t collective = -1;  // into Recording::collectives
};

// A call by which the host launched a kernel.
struct RecordedLaunch {
  int64_t correlation = 0;
  int64_t thread = 0;
  int64_t time_ns = 0;
};

// A call of fused attention.
struct RecordedAttention {
  Op op;                           // as if it were not causal
  std::optional<bool> is_causal;   // no value: the operator does not tell
  const char* obstacle = nullptr;  // why no sample can describe such calls: "they have a mask"
};

struct RecordedCollective {
  KernelClass kind = KernelClass::kAllReduce;
  Bytes bytes;         // the full buffer of one rank, as Op::bytes; zero: not known
  Bytes message;       // what a rank passes to NCCL, if that is all that is known; else zero
  int group_size = 0;  // 0: not known
  int32_t group = -1;  // the name of the group, into Recording::names
  int32_t ranks = -1;  // its ranks as text, "[0, 1]", into Recording::names
  int64_t sequence = -1;
  int32_t dtype = -1;  // its name, into Recording::names
};

// Where a kernel belongs; -1 or no value where nothing tells.
struct KernelPlace {
  std::optional<Phase> phase;
  int32_t layer = -1, micro_batch = -1, step = -1;
};

// What only the traces of this program say about a task.
struct OwnTask {
  int32_t task = -1;
  Tag tag;                       // its rank is the index of one of the trace's ranks, in order
  std::optional<LaneKind> lane;  // no value: it holds none
};

struct RecordedKernel {
  int64_t start_ns = 0, end_ns = 0;
  int32_t name = 0;  // into Recording::names
  int32_t device = 0, stream = 0;
  KernelClass kind = KernelClass::kOther;
  int64_t correlation = -1, external = -1;
  int32_t gemm = -1, attention = -1, collective = -1;  // into the lists of Recording
  int32_t slice = -1;  // the operator that launched it, into Recording::slices
  int32_t own = -1;    // into Recording::own
  KernelPlace place;
};

struct Recording {
  std::string file;
  std::string profiler;                              // "kineto", "nsys", "chakra"
  std::string software;                              // with versions, as far as it is stated
  std::optional<int> rank;                           // of the process in its job
  int world_size = 0;                                // 0: not known
  int64_t base_ns = 0;                               // to be added to all times
  std::unordered_map<int32_t, std::string> devices;  // names of GPUs, by number
  NameTable names;
  std::vector<RecordedSlice> slices;
  std::vector<RecordedLaunch> launches;
  std::vector<RecordedKernel> kernels;
  // Whether products and attention are in the number format of their operators. If they are not,
  // theirs is provisional, and the names of kernels tell it.
  bool has_types = true;
  std::vector<Op> gemms;
  std::vector<RecordedAttention> attentions;
  std::vector<RecordedCollective> collectives;
  std::vector<OwnTask> own;  // empty for traces of other programs
  std::vector<int64_t> own_steps_ns;
  std::vector<std::string> notes;  // sentences on what was not as expected
};

// What readers do with a trace that ends before it should.
enum class CutOff { kRefuse, kTakeWhatIsThere };

}  // namespace stagecraft
