#include "tools/recorded/nccl_groups.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>

namespace stagecraft {
namespace {

struct Call {
  const char* communicator;
  KernelClass kind;
  int64_t bytes;
};

// A process on one device that calls NCCL in this order; communicators are of `size` ranks, 0 if
// that was not recorded.
Recording Process(int size, std::initializer_list<Call> calls) {
  Recording recording;
  recording.file = "a.sqlite";
  recording.kernels.emplace_back().end_ns = 10;
  std::map<std::string, int64_t> counts;
  for (const Call& call : calls) {
    RecordedCollective collective;
    collective.kind = call.kind;
    collective.message = Bytes(call.bytes);
    collective.group = recording.names.Intern(call.communicator);
    collective.group_size = size;
    collective.sequence = counts[call.communicator]++;
    recording.collectives.push_back(collective);
  }
  return recording;
}

std::string RanksOf(const Recording& recording, int collective) {
  const int32_t ranks = recording.collectives[collective].ranks;
  return ranks < 0 ? "" : recording.names[ranks];
}

constexpr auto kReduce = KernelClass::kAllReduce;
constexpr auto kGather = KernelClass::kAllGather;

TEST(NcclGroupsTest, ThoseThatCallACommunicatorAreItsRanks) {
  std::vector<Recording> job = {Process(2, {{"a", kReduce, 64}}), Process(2, {{"b", kGather, 32}}),
                                Process(2, {{"a", kReduce, 64}}), Process(2, {{"b", kGather, 32}})};
  FindNcclGroups(0, job);
  EXPECT_EQ(RanksOf(job[0], 0), "[0, 2]");
  EXPECT_EQ(RanksOf(job[3], 0), "[1, 3]");
  EXPECT_EQ(job[0].collectives[0].bytes, Bytes(64));
  EXPECT_EQ(job[1].collectives[0].bytes, Bytes(64));  // two parts of 32
  EXPECT_EQ(job[1].collectives[0].group_size, 2);
  EXPECT_EQ(job[2].collectives[0].sequence, 0);
}

TEST(NcclGroupsTest, OfAJobThatWasRecordedAsAWholeTheSizesNeedNotBe) {
  std::vector<Recording> job = {Process(0, {{"a", kReduce, 64}}), Process(0, {{"a", kReduce, 64}}),
                                Process(0, {})};
  FindNcclGroups(3, job);
  EXPECT_EQ(RanksOf(job[1], 0), "[0, 1]");
}

TEST(NcclGroupsTest, ACommunicatorOfTheWholeJobHasAllItsRanks) {
  std::vector<Recording> job = {Process(4, {{"a", kGather, 64}})};
  FindNcclGroups(4, job);
  EXPECT_EQ(RanksOf(job[0], 0), "[0, 1, 2, 3]");
  EXPECT_EQ(job[0].collectives[0].bytes, Bytes(256));
}

TEST(NcclGroupsTest, WhereRanksWereNotRecordedTheGroupIsNotKnown) {
  std::vector<Recording> some = {Process(4, {{"a", kReduce, 64}}),
                                 Process(4, {{"a", kReduce, 64}})};
  FindNcclGroups(0, some);
  EXPECT_EQ(RanksOf(some[0], 0), "");
  EXPECT_EQ(some[0].collectives[0].bytes, Bytes());
  std::vector<Recording> unsized = {Process(0, {{"a", kReduce, 64}}),
                                    Process(0, {{"a", kReduce, 64}})};
  FindNcclGroups(8, unsized);
  EXPECT_EQ(RanksOf(unsized[0], 0), "");
}

TEST(NcclGroupsTest, UnequalNumbersOfCallsAreNotMatched) {
  std::vector<Recording> job = {Process(2, {{"a", kReduce, 64}, {"a", kReduce, 64}}),
                                Process(2, {{"a", kReduce, 64}})};
  FindNcclGroups(0, job);
  EXPECT_EQ(RanksOf(job[0], 1), "[0, 1]");
  EXPECT_EQ(job[0].collectives[0].sequence, -1);
  EXPECT_EQ(job[1].collectives[0].sequence, -1);
}

}  // namespace
}  // namespace stagecraft
