#include "runtime/cuda/local_boards.h"
#include "runtime/cuda/no_cuda.h"

namespace stagecraft {

std::vector<LocalBoard> FindLocalBoards(const std::string& place) { RefuseCuda(place); }

int CountLocalBoards(const std::string& place) { RefuseCuda(place); }

BoardGroups FindBoardGroups(int, const std::string& place) { RefuseCuda(place); }

PartsProbe ProbeParts(int, std::span<const int>, const std::string& place) { RefuseCuda(place); }

}  // namespace stagecraft
