#include "sim/pipeline/pytorch_csv.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"
#include "sim/pipeline/dual_pipe.h"

namespace stagecraft {
namespace {

// 1F1B with two stages and four micro-batches.
constexpr char kExample[] =
    "0F0,0F1,,0B0,0F2,0B1,0F3,0B2,,0B3\n"
    ",1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3,\n";

PassOrders ExampleOrders() {
  return {OneForwardOneBackwardOrder(1, 4), OneForwardOneBackwardOrder(0, 4)};
}

TEST(PytorchCsvTest, ReadsOneForwardOneBackward) {
  const PytorchSchedule schedule = ReadPytorchCsv(kExample, "s.csv");
  EXPECT_EQ(schedule.map, ChunkMap::Looped(2, 1));
  EXPECT_EQ(schedule.micro_batches, 4);
  EXPECT_EQ(schedule.orders, ExampleOrders());
}

TEST(PytorchCsvTest, WritesOneForwardOneBackward) {
  EXPECT_EQ(WritePytorchCsv(ChunkMap::Looped(2, 1), ExampleOrders(), 4), kExample);
}

TEST(PytorchCsvTest, SkipsCommunicationAndBlankCells) {
  const PytorchSchedule schedule = ReadPytorchCsv(
      "0UNSHARD, 0F0 ,0SEND_F0,0RECV_B0,0I0,0W0,0REDUCE_GRAD\r\n1RECV_F0,1F0,1B0,1SEND_B0\r\n\r\n",
      "s.csv");
  EXPECT_EQ(schedule.orders[0], (PassOrder{{Phase::kForward, 0, 0},
                                           {Phase::kBackwardInput, 0, 0},
                                           {Phase::kBackwardWeight, 0, 0}}));
  EXPECT_EQ(schedule.orders[1].size(), 2u);
}

TEST(PytorchCsvTest, ReadsPassesBesideEachOtherOnAWave) {
  const PytorchSchedule schedule =
      ReadPytorchCsv("0F0,1F0,(0F1;1B0)OVERLAP_F_B,1F1,1B1,0B0,0B1\n", "s.csv");
  EXPECT_EQ(schedule.map, ChunkMap::Looped(1, 2));
  EXPECT_EQ(schedule.orders[0][2], (Pass{Phase::kForward, 0, 1, true}));
  EXPECT_EQ(schedule.orders[0][3], (Pass{Phase::kBackward, 1, 0}));
}

void ExpectRoundTrip(const ChunkMap& map, const PassOrders& orders, int micro_batches) {
  const PytorchSchedule schedule =
      ReadPytorchCsv(WritePytorchCsv(map, orders, micro_batches), "s.csv");
  EXPECT_EQ(schedule.map, map);
  EXPECT_EQ(schedule.micro_batches, micro_batches);
  EXPECT_EQ(schedule.orders, orders);
}

TEST(PytorchCsvTest, EveryFamilyComesBackAsItWas) {
  for (const int p : {2, 3, 5}) {
    const int m = 3 * p;
    PassOrders flush, interleaved, groups;
    for (int stage = 0; stage < p; ++stage) {
      flush.push_back(OneForwardOneBackwardOrder(p - 1 - stage, m));
      interleaved.push_back(InterleavedOrder(stage, p, 3, m));
      groups.push_back(InterleavedOrder(stage, p, 2, m + 1, MicroBatchGroups{p + 1}));
    }
    ExpectRoundTrip(ChunkMap::Looped(p, 1), flush, m);
    ExpectRoundTrip(ChunkMap::Looped(p, 1), PassOrders(p, GpipeOrder(m)), m);
    ExpectRoundTrip(ChunkMap::Looped(p, 3), interleaved, m);
    ExpectRoundTrip(ChunkMap::Looped(p, 2), groups, m + 1);
    ExpectRoundTrip(ChunkMap::Looped(p, 4), PassOrders(p, BreadthFirstOrder(4, m)), m);
    ExpectRoundTrip(ChunkMap::Wave(p, 4), PassOrders(p, BreadthFirstOrder(4, m)), m);
    ExpectRoundTrip(ChunkMap::Wave(p, 2), DualPipeVOrders(p, m), m);
  }
}

std::string ErrorOf(std::string_view text) {
  try {
    ReadPytorchCsv(text, "s.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(PytorchCsvTest, UnreadableCellsAreNamedByLineAndColumn) {
  for (const char* cell : {"1Q0", "F0", "1F", "-1F0", "1F0x", "1F99999999999", "(1F0;1B0)",
                           "(1F0)OVERLAP_F_B", "(1F0;1SEND_F0)OVERLAP_F_B", "1SENDF0", "("}) {
    EXPECT_EQ(ErrorOf(std::string("0F0,0B0\n,") + cell + "\n"),
              std::string("s.csv:2: column 2: got \"") + cell +
                  "\", want STAGE{F|B|I|W}MICRO_BATCH, two of them as (A;B)OVERLAP_F_B, or a "
                  "lowered communication");
  }
}

TEST(PytorchCsvTest, StagesInTwoPlacesOrNoneAreRefused) {
  EXPECT_EQ(ErrorOf("0F0,1F0,1B0,0B0\n1F0,0F0,0B0,1B0\n"),
            "s.csv:2: column 1: stage 1 is on rank 0 too, want each on one (this format holds no "
            "pipelines in two directions)");
  EXPECT_EQ(ErrorOf("0F0,0B0,0F1,0B1\n2F0,2B0,2F1,2B1\n"), "s.csv: no rank has stage 1 of 3");
  EXPECT_EQ(ErrorOf("0F0,1F0,1B0,0B0\n2F0,3F0,3B0,2B0\n"),
            "s.csv: stage 1 is on rank 0, want 1 (looped) or 1 (a wave)");
  EXPECT_EQ(ErrorOf("0F0,2F0,2B0,0B0\n1F0,1B0\n"),
            "s.csv: got 3 stages on 2 ranks, want the same number on each");
}

TEST(PytorchCsvTest, ASchedulesFirstCellTellsItFromOtherTables) {
  for (const char* text : {"0F0,1F0\n", ",,\n,3B1\n", "(0F1;1B0)OVERLAP_F_B", "12SEND_F3"}) {
    EXPECT_TRUE(IsPytorchCsv(text)) << text;
  }
  for (const char* text : {"", ",,\n", "0,1\n", "op,gpu\n0F0\n", "1x8\n"}) {
    EXPECT_FALSE(IsPytorchCsv(text)) << text;
  }
}

TEST(PytorchCsvTest, FilesThatSkipRepeatOrDeadlockAreRefused) {
  EXPECT_EQ(ErrorOf(""), "s.csv: got no passes, want cells like 0F0 or 3B1");
  EXPECT_EQ(ErrorOf("0F2000000000\n"),
            "s.csv: got 1 passes, want each of 1 stages to run each of "
            "2000000001 micro-batches");
  EXPECT_EQ(ErrorOf("0F0,0F1,0B0\n"), "s.csv: rank 0 lacks backward of micro-batch 1");
  EXPECT_EQ(ErrorOf("0F0,0B0,0B0\n"), "s.csv: rank 0 runs backward of micro-batch 0 twice");
  EXPECT_EQ(ErrorOf("0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n"),
            "s.csv: deadlock: rank 0 waits for backward of micro-batch 0 on rank 1, which waits "
            "for forward of micro-batch 1 on rank 0");
}

TEST(PytorchCsvTest, PipelinesInTwoDirectionsCannotBeWritten) {
  EXPECT_THROW(WritePytorchCsv(ChunkMap::Bidirectional(4), DualPipeOrders(4, 8), 8), InputError);
}

}  // namespace
}  // namespace stagecraft
