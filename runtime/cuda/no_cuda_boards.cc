#include "costmodel/check.h"
#include "runtime/cuda/local_boards.h"

namespace stagecraft {
namespace {

[[noreturn]] void Refuse(const std::string& place) {
  throw InputError(place +
                   ": got a CUDA device, want a build that has CUDA: this one was made where no "
                   "toolkit was found (CUDA_HOME says where one is)");
}

}  // namespace

std::vector<LocalBoard> FindLocalBoards(const std::string& place) { Refuse(place); }

int CountLocalBoards(const std::string& place) { Refuse(place); }

BoardGroups FindBoardGroups(int, const std::string& place) { Refuse(place); }

PartsProbe ProbeParts(int, std::span<const int>, const std::string& place) { Refuse(place); }

}  // namespace stagecraft
