#include "tools/recorded/nvtx_text.h"

#include <gtest/gtest.h>

namespace stagecraft {
namespace {

using Dims = std::vector<std::vector<int64_t>>;

TEST(NvtxTextTest, AnOperatorHasANameSequenceNumberAndSizes) {
  const auto mm = OperatorOfNvtx(
      "aten::mm, seq = 12, op_id = 40, sizes = [[4096, 8192], [8192, 3584]], input_op_ids = [(3, "
      "0)]");
  ASSERT_TRUE(mm);
  EXPECT_EQ(mm->name, "aten::mm");
  EXPECT_EQ(mm->sequence, 12);
  EXPECT_EQ(mm->dims, (Dims{{4096, 8192}, {8192, 3584}}));
  const auto scalars = OperatorOfNvtx("aten::addmm, sizes = [[8], [4, 2], [2, 8], [], []]");
  ASSERT_TRUE(scalars);
  EXPECT_EQ(scalars->sequence, -1);
  EXPECT_EQ(scalars->dims, (Dims{{8}, {4, 2}, {2, 8}, {}, {}}));
}

TEST(NvtxTextTest, ATextWithoutSuchFieldsIsARangeOfTheProgram) {
  EXPECT_FALSE(OperatorOfNvtx("layer4.mlp"));
  EXPECT_FALSE(OperatorOfNvtx(""));
  EXPECT_FALSE(OperatorOfNvtx(", seq = 4"));
}

TEST(NvtxTextTest, SizesThatAreNotWholeAreNone) {
  for (const char* sizes : {"[[4096, 81", "[[4096 8192]]", "[[], x]", "[[99999999999999999999]]",
                            "[[4], [", "[[4],[5]]", ""}) {
    const auto op = OperatorOfNvtx(std::string("aten::mm, sizes = ") + sizes);
    ASSERT_TRUE(op) << sizes;
    EXPECT_TRUE(op->dims.empty()) << sizes;
  }
}

TEST(NvtxTextTest, ACallOfNcclHasItsCommunicatorAndItsMessage) {
  const auto call = CallOfNccl("ncclAllGather",
                               R"({"NCCL communicator ID": 77, "Message size [bytes]": 33554432})");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->communicator, "77");
  EXPECT_EQ(call->kind, KernelClass::kAllGather);
  EXPECT_EQ(call->message, Bytes(33554432));
  const auto made = CallOfNccl("ncclCommInitRankConfig",
                               R"({"NCCL communicator ID": "0x4d", "No. of ranks": 8, "Rank": 3})");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->communicator, "\"0x4d\"");
  EXPECT_FALSE(made->kind);
  EXPECT_EQ(made->group_size, 8);
}

TEST(NvtxTextTest, OtherRangesAndPayloadsAreNoCallsOfNccl) {
  const char* const sound = R"({"NCCL communicator ID": 77, "Message size [bytes]": 4})";
  EXPECT_TRUE(CallOfNccl("ncclAllReduce", sound));
  EXPECT_FALSE(CallOfNccl("allreduce", sound));
  EXPECT_FALSE(CallOfNccl("ncclGroupEnd", sound));
  EXPECT_FALSE(CallOfNccl("ncclCommInitRank", sound));
  for (const char* payload :
       {"", "{", "[]", "7", R"({"Message size [bytes]": 4})", R"({"NCCL communicator ID": 77})",
        R"({"NCCL communicator ID": {}, "Message size [bytes]": 4})",
        R"({"NCCL communicator ID": 77, "Message size [bytes]": "4"})",
        R"({"NCCL communicator ID": 77, "Message size [bytes]": -4})",
        R"({"NCCL communicator ID": 77, "Message size [bytes]": 18446744073709551615})"}) {
    EXPECT_FALSE(CallOfNccl("ncclAllReduce", payload)) << payload;
  }
}

}  // namespace
}  // namespace stagecraft
