#include "runtime/cuda/stand_in/gpu.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace stagecraft {
namespace stand_in {
namespace {

// Ends a program that leaves something behind with this exit code, whatever code it returns.
constexpr int kExitLeaks = 97;
void RefuseLeaks() {
  const std::vector<std::string> leaks = StandInLeaks();
  for (const std::string& leak : leaks) std::fprintf(stderr, "CUDA stand-in: %s\n", leak.c_str());
  if (!leaks.empty()) std::_Exit(kExitLeaks);
}

std::optional<Gpu>& TheGpu() {
  static std::optional<Gpu>& gpu = *new std::optional<Gpu>;
  static const int registered = std::atexit(RefuseLeaks);
  static_cast<void>(registered);
  return gpu;
}

}  // namespace

Gpu& Gpu::Get() {
  std::optional<Gpu>& gpu = TheGpu();
  if (!gpu) {
    const char* const words = std::getenv("STAGECRAFT_STAND_IN");
    gpu.emplace(ParseStandInGpu(words == nullptr ? "" : words));
  }
  return *gpu;
}

Gpu::Gpu(StandInGpu described)
    : played(std::move(described)),
      time([this](const Work& work) {
        for (const Range& range : work.touched) {
          if (range.bytes == 0 || heap.IsAlive(range)) continue;
          BreakContract(work.name + " touches " + std::to_string(range.bytes) +
                        " bytes of memory that was not allocated, or is freed already");
        }
      }),
      default_stream(streams.Make({})),
      reserved(static_cast<size_t>(played.gpus)) {}

bool Gpu::Call(const char* function) {
  time.Spend(played.call_nanoseconds);
  return Count(function);
}

bool Gpu::CallOfSensors(const char* function) { return Count(function); }

bool Gpu::Count(const char* function) {
  const std::lock_guard lock(calls_mutex_);
  auto own = calls_.find(std::string_view(function));
  if (own == calls_.end()) own = calls_.emplace(function, 0).first;
  return ++own->second != played.fails.nth || played.fails.function != function;
}

std::map<std::string, int> Gpu::calls() const {
  const std::lock_guard lock(calls_mutex_);
  return {calls_.begin(), calls_.end()};
}

bool Gpu::DoesWork(const Work& work) const {
  return played.data == StandInData::kCalculated || (played.checks_memory() && work.is_answer);
}

MarkPointer Gpu::Give(cudaStream_t stream, Work work, MarkPointer waited) {
  CUstream_st& own = streams.Get(stream, "a stream");
  CheckAwaited(stream, work);
  if (!DoesWork(work)) work.effect = {};
  if (!played.checks_memory()) {
    work.touched.clear();
    work.ownership = {};
  }
  auto shared = std::make_shared<const Work>(std::move(work));
  if (own.is_capturing) {
    own.captured.push_back(std::move(shared));
    return nullptr;
  }
  own.last = time.Queue(std::move(shared), own.last, std::move(waited));
  return own.last;
}

void Gpu::CheckAwaited(cudaStream_t stream, const Work& work) const {
  if (stream == default_stream || stream->is_capturing) return;
  for (const Range& written : unawaited) {
    for (const Range& range : work.touched) {
      if (range.begin >= written.begin + written.bytes ||
          written.begin >= range.begin + range.bytes) {
        continue;
      }
      BreakContract(work.name +
                    " touches memory that the default stream may still be writing: the host has "
                    "not waited for it, and other streams do not");
    }
  }
}

void Gpu::WaitFor(cudaStream_t stream) {
  if (stream == default_stream) unawaited.clear();
  const MarkPointer last = streams.Get(stream, "a stream").last;
  if (last != nullptr) time.WaitFor(*last);
}

bool Gpu::Reserve(int device, size_t bytes) {
  size_t& taken = reserved[static_cast<size_t>(device)];
  if (bytes > played.memory - taken) return false;
  taken += bytes;
  return true;
}

std::vector<int> Gpu::MultiprocessorsOf(cudaStream_t stream) const {
  const CUgreenCtx part = streams.Get(stream, "a stream").part;
  const bool leaves = stream->is_capturing && !played.graphs_keep_to_parts;
  if (part != nullptr && !leaves) return parts.Get(part, "a green context").multiprocessors;
  std::vector<int> all(static_cast<size_t>(played.multiprocessors()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<std::string> Gpu::Leaks() const {
  std::vector<std::string> leaks = heap.Leaks();
  const auto count = [&leaks](size_t left, const std::string& what) {
    if (left > 0) leaks.push_back(std::to_string(left) + " " + what + " were not destroyed");
  };
  count(streams.count() - 1, "streams");
  count(events.count(), "events");
  count(graphs.count(), "graphs");
  count(executables.count(), "executable graphs");
  count(pools.count(), "memory pools");
  count(parts.count(), "green contexts");
  count(contexts.size(), "pushed contexts");
  for (const auto& [what, left] : of_libraries.counts()) count(left, what + "s");
  return leaks;
}

}  // namespace stand_in

void UseStandIn(const StandInGpu& gpu) { stand_in::TheGpu().emplace(gpu); }
std::vector<std::string> StandInLeaks() { return stand_in::Gpu::Get().Leaks(); }
std::map<std::string, int> StandInCalls() { return stand_in::Gpu::Get().calls(); }
int StandInGatesRunOut() { return stand_in::Gpu::Get().time.gates_run_out(); }
OperandCount StandInOperands() { return stand_in::Gpu::Get().operands; }

}  // namespace stagecraft
