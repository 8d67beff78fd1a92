#include "runtime/cuda/nccl_library.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

TEST(NcclLibraryTest, AMissingLibraryIsReportedInOneSentence) {
  EXPECT_EQ(ErrorOf([] { LoadNccl("run: got 2 processes", "libno-nccl.so.2"); }),
            "run: got 2 processes, want NCCL, with which they communicate: libno-nccl.so.2: cannot "
            "open shared object file: No such file or directory");
}

}  // namespace
}  // namespace stagecraft
