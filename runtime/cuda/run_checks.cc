#include "runtime/cuda/run_checks.h"

#include <fmt/core.h>

#include "costmodel/check.h"
#include "costmodel/op.h"

namespace stagecraft {
namespace {

// Throws unless the ranks of one process share one GPU, each with a part of it if there are
// several.
void CheckParts(const CudaRunRequest& request) {
  const std::vector<CudaPlace>& places = request.places;
  for (size_t rank = 0; rank < places.size(); ++rank) {
    if (places[rank].gpu != places[0].gpu) {
      throw InputError(
          fmt::format("run: rank {}: got GPU {}, want {} as rank 0 has: ranks of "
                      "one process share a GPU, others have a process each",
                      rank, places[rank].gpu, places[0].gpu));
    }
    if (places.size() > 1 && places[rank].multiprocessors == 0) {
      throw InputError(
          fmt::format("run: rank {}: got all of GPU {}, want a part of it: {} ranks "
                      "share it",
                      rank, places[rank].gpu, places.size()));
    }
  }
}

}  // namespace

void CheckCudaRun(const CudaRunRequest& request) {
  CHECK(request.schedule != nullptr);
  const size_t ranks = request.schedule->ranks().size();
  const int processes = request.process.size;
  if (ranks == 0 || request.schedule->task_count() == 0) {
    throw InputError("run: got a schedule without tasks, want one that ranks execute");
  }
  for (const Op& op : request.schedule->distinct_ops()) {
    if (op.kind != OpKind::kSparse) continue;
    throw InputError("run: got a sparse product, want dense ones: GPUs run no others here");
  }
  if (request.places.size() != ranks) {
    throw InputError(
        fmt::format("run: got places for {} ranks, want {}, one for each rank of the "
                    "plan",
                    request.places.size(), ranks));
  }
  if (!request.memory.empty() && request.memory.size() != ranks) {
    throw InputError(
        fmt::format("run: got planned memory of {} ranks, want {}", request.memory.size(), ranks));
  }
  if (processes != 1 && static_cast<size_t>(processes) != ranks) {
    throw InputError(fmt::format("run: got {} processes, want {}, one for each rank of the plan",
                                 processes, ranks));
  }
  if (request.process.rank < 0 || request.process.rank >= processes) {
    throw InputError(fmt::format("run: got process {} of {}, want 0 to {}", request.process.rank,
                                 processes, processes - 1));
  }
  for (size_t rank = 0; rank < ranks; ++rank) {
    const CudaPlace& place = request.places[rank];
    if (place.gpu >= 0 && place.multiprocessors >= 0) continue;
    throw InputError(
        fmt::format("run: rank {}: got GPU {} and {} multiprocessors, want none "
                    "below 0",
                    rank, place.gpu, place.multiprocessors));
  }
  if (processes == 1) return CheckParts(request);
  if (request.process.address.empty()) {
    throw InputError("run: got no address, want \"host:port\" where the processes meet");
  }
}

}  // namespace stagecraft
