// BoardParts: one board as several devices, each with multiprocessors of its own.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/part_sizes.h"

namespace stagecraft {

// Groups that the driver makes of a board. Throws InputError, a sentence that begins with
// `place`, where the board is not there or the driver too old to split one.
BoardGroups GroupsOfBoard(int board, const std::string& place);

struct GreenContexts;  // of the driver: its functions

// Kernels in streams of a part run on its multiprocessors alone, those of libraries too; memory
// and its caches are everyone's. The primary context stays the current one: events, memory and
// handles of libraries belong to it. Outlives its streams.
class BoardParts {
 public:
  // Makes the board current. `multiprocessors` of each part are as ShareGroups() wants them;
  // throws InputError where they are not, and as GroupsOfBoard() does.
  BoardParts(int board, std::span<const int> multiprocessors, const std::string& place);
  ~BoardParts();  // where GreenContexts is known
  BoardParts(const BoardParts&) = delete;
  BoardParts& operator=(const BoardParts&) = delete;

  int count() const { return static_cast<int>(contexts_.size()); }
  // Which waits for no default stream.
  Stream MakeStream(int part) const;

 private:
  struct Destroy {
    const GreenContexts* driver = nullptr;
    void operator()(CUgreenCtx context) const;
  };
  std::unique_ptr<const GreenContexts> driver_;
  std::vector<CudaHandle<CUgreenCtx, Destroy>> contexts_;
};

}  // namespace stagecraft
