// Schedules on parts of one GPU, or of the stand-in for one, and what their collectives and
// messages leave in memory.
#include "runtime/cuda/device_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/gpu_parts.h"
#include "runtime/cuda/share_kernels.h"
#include "runtime/cuda/two_stages.h"
#include "runtime/member_share.h"
#include "runtime/planned_memory.h"

namespace stagecraft {
namespace {

constexpr int kBlocks = 64;

std::vector<float> Read(const float* memory, int64_t count) {
  std::vector<float> numbers(count);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(
      cudaMemcpy(numbers.data(), memory, numbers.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return numbers;
}

// Waits for the copy, since our streams do not wait for the default stream.
void Write(const std::vector<float>& numbers, float* memory) {
  CHECK_CUDA(
      cudaMemcpy(memory, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaDeviceSynchronize());
}

// The buffers of `kMembers` members, twice `kNumbers` long. Number i of member m is 1000 m + i.
constexpr int kMembers = 3;
constexpr int64_t kNumbers = 100;  // not a multiple of the number of members
struct Members {
  DeviceMemory memory{kMembers * 2 * kNumbers * sizeof(float)};
  MemberBuffers buffers = {.of = {}, .count = kMembers};

  Members() {
    for (int m = 0; m < kMembers; ++m) {
      buffers.of[m] = reinterpret_cast<float*>(memory.get()) + m * 2 * kNumbers;
      std::vector<float> numbers(2 * kNumbers);
      for (int64_t i = 0; i < kNumbers; ++i) numbers[i] = 1000.0f * m + i;
      Write(numbers, buffers.of[m]);
    }
  }
  void Run(OpKind kind) {
    const Stream stream = MakeStream();
    for (int phase = 0; phase < (kind == OpKind::kAllReduce ? 2 : 1); ++phase) {
      for (int m = 0; m < kMembers; ++m) {
        QueueMemberShare(kind, phase, buffers, m, kNumbers, kBlocks, stream.get());
      }
    }
  }
};

constexpr float SumAt(int64_t i) { return 3000.0f + 3 * i; }

TEST(ShareKernelsTest, AnAllReduceLeavesTheSumWithEveryMember) {
  Members members;
  members.Run(OpKind::kAllReduce);
  for (int m = 0; m < kMembers; ++m) {
    const std::vector<float> numbers = Read(members.buffers.of[m], kNumbers);
    for (int64_t i = 0; i < kNumbers; ++i) ASSERT_EQ(numbers[i], SumAt(i)) << m << " " << i;
  }
}

TEST(ShareKernelsTest, AReduceScatterLeavesEachMemberItsShareOfTheSum) {
  Members members;
  members.Run(OpKind::kReduceScatter);
  for (int m = 0; m < kMembers; ++m) {
    const std::vector<float> numbers = Read(members.buffers.of[m], kNumbers);
    const MemberShare share = MemberShare::Of(kNumbers, kMembers, m);
    for (int64_t i = 0; i < kNumbers; ++i) {
      const bool is_own = i >= share.begin && i < share.end;
      ASSERT_EQ(numbers[i], is_own ? SumAt(i) : 1000.0f * m + i) << m << " " << i;
    }
  }
}

TEST(ShareKernelsTest, GathersBroadcastsAndAllToAllMoveShares) {
  Members gathered, sent, exchanged;
  gathered.Run(OpKind::kAllGather);
  sent.Run(OpKind::kBroadcast);
  exchanged.Run(OpKind::kAllToAll);
  for (int m = 0; m < kMembers; ++m) {
    const std::vector<float> all = Read(gathered.buffers.of[m], kNumbers);
    const std::vector<float> first = Read(sent.buffers.of[m], kNumbers);
    const std::vector<float> pieces = Read(exchanged.buffers.of[m] + kNumbers, kNumbers);
    const MemberShare own = MemberShare::Of(kNumbers, kMembers, m);
    for (int other = 0; other < kMembers; ++other) {
      const MemberShare share = MemberShare::Of(kNumbers, kMembers, other);
      for (int64_t i = share.begin; i < share.end; ++i) {
        ASSERT_EQ(all[i], 1000.0f * other + i) << m << " " << i;
        ASSERT_EQ(first[i], static_cast<float>(i)) << m << " " << i;
        const int64_t at = i - share.begin;
        if (at < own.count()) {
          ASSERT_EQ(pieces[i], 1000.0f * other + own.begin + at) << m << " " << i;
        }
      }
    }
  }
}

std::set<int> MultiprocessorsOf(cudaStream_t stream) {
  const DeviceMemory memory(kMostMultiprocessors * sizeof(int));
  CHECK_CUDA(cudaMemset(memory.get(), 0, memory.bytes()));
  CHECK_CUDA(cudaDeviceSynchronize());
  LaunchLook(reinterpret_cast<int*>(memory.get()), stream);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<int> seen(kMostMultiprocessors);
  CHECK_CUDA(cudaMemcpy(seen.data(), memory.get(), memory.bytes(), cudaMemcpyDeviceToHost));
  std::set<int> used;
  for (int i = 0; i < kMostMultiprocessors; ++i) {
    if (seen[i] != 0) used.insert(i);
  }
  return used;
}

TEST(GpuPartsTest, PartsRunOnMultiprocessorsOfTheirOwn) {
  const GpuGroups groups = GroupsOfGpu(0, "test");
  const std::vector<int> sizes = {groups.group_size, 2 * groups.group_size};
  const GpuParts parts(0, sizes, "test");
  std::set<int> all;
  for (int part = 0; part < parts.count(); ++part) {
    const Stream stream = parts.MakeStream(part);
    const std::set<int> used = MultiprocessorsOf(stream.get());
    EXPECT_EQ(static_cast<int>(used.size()), sizes[part]);
    for (const int one : used) EXPECT_TRUE(all.insert(one).second) << one;
  }
}

TEST(DeviceExecutorTest, APipelineOnTwoPartsIsMeasured) {
  TwoStages pipeline(8, 2048);
  const Schedule schedule = pipeline.builder.Build();
  const int part = EqualPart(GroupsOfGpu(0, "test"), 2, "test");
  int heard = 0;
  // Passes hold 64 MiB, of which they leave 16 MiB until the end of the step.
  constexpr Bytes kStates(512 << 20), kPass(64 << 20), kLeft(16 << 20);
  const PlannedMemory memory = {.states = kStates,
                                .chunks = {{{{kPass, kLeft.count()}, {}, {}, {}}}}};
  const CudaRunResult result = RunOnCuda({.schedule = &schedule,
                                          .places = {{0, part}, {0, part}},
                                          .process = {},
                                          .steps = {{1}, {3}},
                                          .progress = [&](int done) { heard = done; },
                                          .memory = {memory, memory}});
  EXPECT_EQ(heard, 4);
  EXPECT_EQ(result.measured.steps.size(), 3u);
  ASSERT_EQ(result.peak_memory.size(), 2u);
  EXPECT_GE(result.peak_memory[1], kStates + 7 * kLeft + kPass);
  EXPECT_NE(result.devices[0].find("multiprocessors"), std::string::npos);
  const Timeline& timeline = result.measured.timeline;
  // No GPU reaches 1e16 FLOP/s.
  const double least = 2 * 2 * 2048.0 * 2048 * 2048 / 1e16;
  for (const TaskId pass : pipeline.passes) {
    EXPECT_GT((timeline.end(pass) - timeline.start(pass)).seconds(), least) << pass;
  }
  // Stages overlap: the second stage's first pass begins before the first stage's last pass ends.
  EXPECT_LT(timeline.start(pipeline.passes[1]), timeline.end(pipeline.passes[14]));
  EXPECT_GT(timeline.end(pipeline.reduction), timeline.start(pipeline.reduction));
}

TEST(DeviceExecutorTest, LargerProductsTakeLonger) {
  const auto seconds = [](int64_t size) {
    TwoStages pipeline(2, size);
    const Schedule schedule = pipeline.builder.Build();
    const int part = EqualPart(GroupsOfGpu(0, "test"), 2, "test");
    return RunOnCuda({.schedule = &schedule, .places = {{0, part}, {0, part}}, .process = {}})
        .measured.timeline.makespan()
        .seconds();
  };
  EXPECT_GT(seconds(4096), 3 * seconds(2048));
}

// Uses the executor directly, since the buffers of its devices can be read.
TEST(DeviceExecutorTest, AMessageArrivesAndAnAllReduceAddsUp) {
  TwoStages pipeline(2, 256);
  const Schedule schedule = pipeline.builder.Build();
  const StreamProgram program = MakeStreamProgram(schedule, Processes::kOne);
  std::vector<std::unique_ptr<RankDevice>> devices;
  for (int32_t rank = 0; rank < 2; ++rank) {
    devices.push_back(std::make_unique<RankDevice>(schedule, program, rank, 0, 0, MakeStream));
  }
  DeviceExecutor executor(schedule, program, devices, nullptr);
  executor.Prepare();  // loads kernels, which a closed gate would block
  const int64_t numbers = TwoStages::kBytes / sizeof(float);
  std::vector<float> pattern(numbers);
  std::iota(pattern.begin(), pattern.end(), 1.0f);
  std::vector<std::function<void()>> checks;
  for (size_t id = 0; id < program.streams.size(); ++id) {
    const StreamInfo& stream = program.streams[id];
    const auto buffer = [&, id](int rank) {
      return reinterpret_cast<float*>(devices[rank]->buffer(static_cast<int32_t>(id)));
    };
    if (stream.lane == pipeline.send[0]) {
      Write(pattern, buffer(0));
      checks.push_back([=] { EXPECT_EQ(Read(buffer(1), numbers), pattern); });
    } else if (stream.lane == pipeline.data[0] || stream.lane == pipeline.data[1]) {
      Write(pattern, buffer(stream.rank));
      std::vector<float> sums = pattern;
      for (float& sum : sums) sum *= 2;
      checks.push_back([=] { EXPECT_EQ(Read(buffer(stream.rank), numbers), sums); });
    }
  }
  EXPECT_EQ(checks.size(), 3u);
  executor.Execute(schedule);
  for (const auto& check : checks) check();
}

TEST(DeviceExecutorTest, APartOfAnOddSizeIsRefused) {
  TwoStages pipeline(1, 256);
  const Schedule schedule = pipeline.builder.Build();
  EXPECT_NE(ErrorOf([&] {
              RunOnCuda({.schedule = &schedule, .places = {{0, 7}, {0, 9}}, .process = {}});
            }),
            "");
  EXPECT_NE(ErrorOf([&] {
              RunOnCuda({.schedule = &schedule, .places = {{99, 8}, {99, 8}}, .process = {}});
            }),
            "");
}

}  // namespace
}  // namespace stagecraft
