// GPUs that are looked for, and parts that are measured, while any one call fails.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/cuda/local_boards.h"
#include "runtime/cuda/stand_in/board.h"
#include "runtime/cuda/stand_in/failing_calls.h"

namespace stagecraft {
namespace {

TEST(FailingProbeTest, WhicheverFailsBoardsAreFoundOrTheReasonIsTold) {
  FailEveryCall(CheckedBoard(), [] {
    const std::vector<LocalBoard> boards = FindLocalBoards("import");
    return boards.size() == 1 && boards[0].multiprocessors == 132 ? "" : "no board";
  });
}

TEST(FailingProbeTest, WhicheverFailsPartsAreMeasuredOrTheReasonIsTold) {
  FailEveryCall(CheckedBoard(), [] {
    const std::vector<int> parts = {64, 68};
    const PartsProbe probe = ProbeParts(0, parts, "import");
    return probe.copies.size() == 2 ? "" : "no copies";
  });
}

}  // namespace
}  // namespace stagecraft
