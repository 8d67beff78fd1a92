#include "sim/memory/update_tensors.h"

#include <algorithm>
#include <vector>

#include "sim/memory/caching_allocator.h"

namespace stagecraft {
namespace {

constexpr int64_t kWide = 4;  // bytes of a number of 32 bits

// One bucket or shard has so many elements: the defaults of DeepSpeed's reduce_bucket_size,
// allreduce_bucket_size and allgather_bucket_size (runtime/zero/config.py, runtime/engine.py).
constexpr int64_t kDeepspeedBucket = 500'000'000;

class Recorder {
 public:
  int Make(int64_t bytes) {
    sizes_.push_back(CachingAllocator::Rounded(Bytes(bytes)).count());
    Change(static_cast<int>(sizes_.size()) - 1, true);
    allocated_ += sizes_.back();
    most_ = std::max(most_, allocated_);
    return static_cast<int>(sizes_.size()) - 1;
  }
  void Drop(int tensor) {
    allocated_ -= sizes_[tensor];
    Change(tensor, false);
  }
  // Makes and drops one buffer after another, none of which the allocator hands out again before
  // the last one exists.
  void MakeBuffers(int64_t elements, int64_t bucket, int64_t bytes) {
    std::vector<int> buffers;
    for (int64_t left = elements; left > 0; left -= bucket) {
      buffers.push_back(Make(std::min(left, bucket) * bytes));
      allocated_ -= sizes_[buffers.back()];
    }
    for (const int buffer : buffers) Change(buffer, false);
  }

  ChunkPass Take() {
    ChunkPass update;
    update.tensors = std::move(pass_);
    update.summary.peak = most_;
    return update;
  }

 private:
  void Change(int tensor, bool is_made) {
    if (sizes_[tensor] == 0) return;
    pass_.events.push_back(
        {.change = is_made ? sizes_[tensor] : -sizes_[tensor], .tensor = tensor});
  }

  PassTensors pass_;
  std::vector<int64_t> sizes_;
  int64_t allocated_ = 0;
  int64_t most_ = 0;
};

void UpdateAsDeepspeed(const UpdatedParameters& parameters, Recorder& recorder) {
  recorder.MakeBuffers(parameters.reduced, kDeepspeedBucket, parameters.gradient);
  if (parameters.working < kWide) {
    const int flat =
        recorder.Make(parameters.own * (parameters.zero > 0 ? parameters.gradient : kWide));
    const int wide = recorder.Make(parameters.own * kWide);
    recorder.Drop(flat);
    recorder.Drop(wide);
  }
  const int64_t shards = std::max<int64_t>(1, parameters.gathered / kDeepspeedBucket);
  recorder.MakeBuffers(parameters.gathered, parameters.gathered / shards + 1, parameters.working);
}

}  // namespace

UpdatedParameters UpdatedBy(const ParameterCount& trained, const StateSharing& sharing,
                            bool is_on_host) {
  UpdatedParameters updated;
  if (sharing.zero < 2) {
    updated.reduced = (sharing.holders > 1 ? trained.dense : 0) +
                      (sharing.expert_holders > 1 ? trained.expert : 0);
  }
  if (!is_on_host) updated.own = OwnParameters(trained, sharing, 1);
  if (sharing.zero == 1 || sharing.zero == 2) {
    updated.gathered =
        (sharing.ranks > 1 ? trained.dense : 0) + (sharing.experts > 1 ? trained.expert : 0);
  }
  updated.zero = sharing.zero;
  updated.working = sharing.working;
  updated.gradient = sharing.gradient;
  updated.optimizer = sharing.optimizer;
  return updated;
}

ChunkPass TraceUpdate(UpdateKind kind, const UpdatedParameters& parameters) {
  Recorder recorder;
  if (kind == UpdateKind::kForeach && parameters.optimizer == Optimizer::kAdam) {
    recorder.Drop(recorder.Make(parameters.own * kWide));
  }
  if (kind == UpdateKind::kDeepspeed) UpdateAsDeepspeed(parameters, recorder);
  return recorder.Take();
}

}  // namespace stagecraft
