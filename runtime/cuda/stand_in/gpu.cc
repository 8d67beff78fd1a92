#include "runtime/cuda/stand_in/gpu.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace stagecraft {
namespace stand_in {
namespace {

// A program that leaves something behind has failed, whatever it says.
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
    gpu.emplace(ParseStandInBoard(words == nullptr ? "" : words));
  }
  return *gpu;
}

Gpu::Gpu(StandInBoard played)
    : board(std::move(played)),
      time([this](const Work& work) {
        for (const Range& range : work.touched) {
          if (range.bytes == 0 || heap.IsAlive(range)) continue;
          BreakContract(work.name + " touches " + std::to_string(range.bytes) +
                        " bytes of memory that was not allocated, or is freed already");
        }
      }),
      default_stream(streams.Make({})),
      reserved(static_cast<size_t>(board.boards)) {}

bool Gpu::Call(const char* function) {
  time.Spend(board.call_time);
  return ++calls[function] != board.fails.nth || board.fails.function != function;
}

MarkPointer Gpu::Give(cudaStream_t stream, Work work, MarkPointer waited) {
  CUstream_st& own = streams.Get(stream, "a stream");
  if (!board.has_data) {
    work.touched.clear();
    work.effect = {};
  }
  auto shared = std::make_shared<const Work>(std::move(work));
  if (own.is_capturing) {
    if (waited == nullptr)
      own.captured.push_back(std::move(shared));
    else
      own.is_capture_spoilt = true;
    return nullptr;
  }
  own.last = time.Queue(std::move(shared), own.last, std::move(waited));
  return own.last;
}

void Gpu::WaitFor(cudaStream_t stream) {
  const MarkPointer last = streams.Get(stream, "a stream").last;
  if (last != nullptr) time.WaitFor(*last);
}

bool Gpu::Reserve(int board_index, size_t bytes) {
  size_t& taken = reserved[static_cast<size_t>(board_index)];
  if (bytes > board.memory - taken) return false;
  taken += bytes;
  return true;
}

std::vector<int> Gpu::MultiprocessorsOf(cudaStream_t stream) const {
  const CUgreenCtx part = streams.Get(stream, "a stream").part;
  const bool leaves = stream->is_capturing && !board.graphs_keep_to_parts;
  if (part != nullptr && !leaves) return parts.Get(part, "a green context").multiprocessors;
  std::vector<int> all(static_cast<size_t>(board.multiprocessors()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<std::string> Gpu::Leaks() const {
  std::vector<std::string> leaks = heap.Leaks();
  const auto count = [&leaks](size_t left, const char* what) {
    if (left > 0) leaks.push_back(std::to_string(left) + " " + what + " were not destroyed");
  };
  count(streams.count() - 1, "streams");
  count(events.count(), "events");
  count(graphs.count(), "graphs");
  count(executables.count(), "executable graphs");
  count(pools.count(), "memory pools");
  count(parts.count(), "green contexts");
  return leaks;
}

}  // namespace stand_in

void UseStandIn(const StandInBoard& board) { stand_in::TheGpu().emplace(board); }
std::vector<std::string> StandInLeaks() { return stand_in::Gpu::Get().Leaks(); }
std::map<std::string, int> StandInCalls() { return stand_in::Gpu::Get().calls; }
OperandCount StandInOperands() { return stand_in::Gpu::Get().operands; }

}  // namespace stagecraft
