#include "runtime/cuda/rank_device.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/part_check.h"
#include "runtime/cuda/random_fill.h"
#include "runtime/cuda/refuse.h"
#include "runtime/cuda/share_kernels.h"
#include "runtime/exchange_buffers.h"

namespace stagecraft {
namespace {

constexpr int kBlocksPerMultiprocessor = 4;

int Multiprocessors(int gpu) {
  int count = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, gpu));
  return count;
}

}  // namespace

RankDevice::RankDevice(const Schedule& schedule, const StreamProgram& program, int32_t rank,
                       int gpu, int multiprocessors, const std::function<Stream()>& make_stream,
                       const PlannedMemory* planned,
                       std::shared_ptr<LazyAttentionLibrary> attention)
    : rank_(rank), pool_(gpu), home_(make_stream()) {
  const int own = multiprocessors > 0 ? multiprocessors : Multiprocessors(gpu);
  blocks_ = own * kBlocksPerMultiprocessor;
  if (multiprocessors > 0) uses_graphs_ = GraphsKeepToPart(multiprocessors, home_.get());
  for (size_t id = 0; id < program.streams.size(); ++id) {
    if (program.streams[id].rank == rank) streams_.emplace(id, make_stream());
  }
  const std::vector<StreamCommand> commands = CommandsOf(program, rank);
  if (planned != nullptr) allocations_ = PassAllocations(schedule, rank, *planned);
  try {
    ops_ = std::make_unique<RankOps>(schedule, commands, multiprocessors, home_.get(),
                                     std::move(attention));
    Place(schedule, program, planned == nullptr ? Bytes() : planned->states);
    if (uses_graphs_) ops_->Capture(commands, home_.get());
  } catch (const Unsupported& reason) {
    Refuse("run: rank " + std::to_string(rank) + ": got GPU " + std::to_string(gpu) +
               ", want one that runs its ops",
           reason);
  }
}

// Waits until the queued frees are done, since a pool keeps its memory until all of it has been
// freed.
RankDevice::~RankDevice() {
  blocks_held_.clear();
  memory_.reset();
  cudaStreamSynchronize(home_.get());
}

// Allocates one piece of memory, for operands and then for exchanges.
void RankDevice::Place(const Schedule& schedule, const StreamProgram& program, Bytes least_bytes) {
  size_t bytes = Aligned(ops_->needed_bytes());
  std::map<int32_t, size_t> offsets;  // by stream
  // Leaves room, since a rank's share of a small buffer is rounded up to one element.
  const size_t least = program.ranks.size() * sizeof(float);
  for (const auto& [key, size] : ExchangeBuffers(schedule, program)) {
    if (key.second != rank_) continue;
    offsets[key.first] = bytes;
    bytes += Aligned(static_cast<size_t>(size.count()) + 2 * least);
  }
  const size_t all = std::max({bytes, kAlignment, static_cast<size_t>(least_bytes.count())});
  memory_ = pool_.Allocate(all, home_.get());
  std::byte* const memory = memory_.get();
  for (const auto& [stream, offset] : offsets) buffers_[stream] = memory + offset;
  const auto exchanged = static_cast<int64_t>(bytes - Aligned(ops_->needed_bytes()));
  FillRandom(memory + (bytes - exchanged), exchanged * 8 / ElementBits(DType::kFp32), DType::kFp32,
             2, home_.get());
  ops_->Place(memory, home_.get());
  CHECK_CUDA(cudaStreamSynchronize(home_.get()));  // no other stream waits for this one
}

int RankDevice::BeginTask(TaskId task, cudaStream_t stream) {
  const auto own = allocations_.find(task);
  return own == allocations_.end() ? 0 : Allocate(own->second.at_begin, stream);
}

int RankDevice::EndTask(TaskId task, cudaStream_t stream) {
  const auto own = allocations_.find(task);
  if (own == allocations_.end()) return 0;
  for (const int32_t block : own->second.freed) {
    const auto held = blocks_held_.find(block);
    held->second.get_deleter().stream = stream;
    blocks_held_.erase(held);
  }
  return static_cast<int>(own->second.freed.size()) + Allocate(own->second.at_end, stream);
}

int RankDevice::Allocate(const std::vector<Allocation>& allocations, cudaStream_t stream) {
  for (const Allocation& one : allocations) {
    try {
      blocks_held_[one.block] = pool_.Allocate(static_cast<size_t>(one.bytes.count()), stream);
    } catch (const Unsupported& reason) {
      Refuse("run: rank " + std::to_string(rank_) + ": got a pass that holds " +
                 std::to_string(one.bytes.count() >> 20) + " MiB more, want a GPU that has them",
             reason);
    }
  }
  return static_cast<int>(allocations.size());
}

}  // namespace stagecraft
