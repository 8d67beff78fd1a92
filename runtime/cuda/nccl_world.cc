#include "runtime/cuda/nccl_world.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "runtime/cuda/nccl_calls.h"
#include "runtime/cuda/nccl_library.h"

namespace stagecraft {

#define CHECK_NCCL(call) nccl_->Check(nccl_->call, "nccl" #call)

namespace {

constexpr std::chrono::microseconds kPause(50);

}  // namespace

NcclWorld::NcclWorld(const ProcessRank& process)
    : nccl_(LoadNccl("run: got " + std::to_string(process.size) + " processes")),
      rank_(process.rank),
      size_(process.size),
      stream_(MakeStream()),
      word_(sizeof(float)) {
  // NCCL makes the same id from this address in each process, and its rank 0 listens there.
  setenv("NCCL_COMM_ID", process.address.c_str(), 1);
  CHECK_CUDA(cudaMemsetAsync(word_.get(), 0, word_.bytes(), stream_.get()));
  CHECK_CUDA(cudaStreamSynchronize(stream_.get()));  // other streams do not wait for this one
  ncclUniqueId id;
  ncclResult_t status = nccl_->GetUniqueId(&id);
  if (status == ncclSuccess) status = nccl_->CommInitRank(&world_, size_, id, rank_);
  if (status == ncclSuccess) return;
  throw InputError(std::string("run: NCCL cannot connect the processes at ") + process.address +
                   ": " + nccl_->GetErrorString(status) + " (" + nccl_->GetLastError(nullptr) +
                   "); want a GPU for each process, or --share-gpu");
}

// Aborts all communicators at once, since what is queued on one may wait for another.
NcclWorld::~NcclWorld() {
  nccl_->GroupStart();
  for (const ncclComm_t one : Communicators()) nccl_->CommAbort(one);
  nccl_->GroupEnd();
}

std::vector<ncclComm_t> NcclWorld::Communicators() const {
  std::vector<ncclComm_t> all;
  for (const Group& group : groups_) {
    if (group.members != nullptr) all.push_back(group.members);
  }
  if (world_ != nullptr) all.push_back(world_);
  return all;
}

void NcclWorld::Leave() {
  const std::vector<ncclComm_t> all = Communicators();
  groups_.clear();
  world_ = nullptr;
  for (const ncclComm_t one : all) CHECK_NCCL(CommDestroy(one));
}

std::string NcclWorld::Software() const { return "nccl " + nccl_->Version(); }

void NcclWorld::MakeGroups(std::span<const StreamGroup> groups) {
  for (const StreamGroup& group : groups) {
    if (group.ranks.size() < 2) {
      groups_.emplace_back();
      continue;
    }
    const auto own = std::find(group.ranks.begin(), group.ranks.end(), rank_);
    const bool is_in = own != group.ranks.end();
    ncclComm_t made = nullptr;
    CHECK_NCCL(CommSplit(world_, is_in ? 0 : NCCL_SPLIT_NOCOLOR,
                         static_cast<int>(own - group.ranks.begin()), &made, nullptr));
    groups_.push_back({is_in ? made : nullptr, static_cast<int>(group.ranks.size()),
                       static_cast<int>(own - group.ranks.begin())});
  }
}

std::byte* NcclWorld::Scratch(size_t bytes) {
  if (scratch_.bytes() < bytes) scratch_ = DeviceMemory(bytes);
  return scratch_.get();
}

// Waits before it copies to the host, since that copy blocks until what was queued before it is
// done.
void NcclWorld::Most(std::span<int64_t> values) {
  if (values.empty()) return;
  std::byte* const memory = Scratch(values.size_bytes());
  cudaStream_t stream = stream_.get();
  CHECK_CUDA(
      cudaMemcpyAsync(memory, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream));
  CHECK_NCCL(AllReduce(memory, memory, values.size(), ncclInt64, ncclMax, world_, stream));
  Wait(stream);
  CHECK_CUDA(cudaMemcpy(values.data(), memory, values.size_bytes(), cudaMemcpyDeviceToHost));
}

std::vector<std::string> NcclWorld::Gather(const std::string& own) {
  std::array<char, 256> text = {};
  std::copy_n(own.data(), std::min(own.size(), text.size() - 1), text.data());
  std::vector<char> all(text.size() * size_);
  std::byte* const memory = Scratch(all.size());
  std::byte* const place = memory + text.size() * rank_;
  cudaStream_t stream = stream_.get();
  CHECK_CUDA(cudaMemcpyAsync(place, text.data(), text.size(), cudaMemcpyHostToDevice, stream));
  CHECK_NCCL(AllGather(place, memory, text.size(), ncclChar, world_, stream));
  Wait(stream);
  CHECK_CUDA(cudaMemcpy(all.data(), memory, all.size(), cudaMemcpyDeviceToHost));
  std::vector<std::string> texts;
  for (int rank = 0; rank < size_; ++rank) texts.emplace_back(all.data() + text.size() * rank);
  return texts;
}

void NcclWorld::QueueBarrier(cudaStream_t stream) {
  CHECK_NCCL(AllReduce(word_.get(), word_.get(), 1, ncclFloat, ncclSum, world_, stream));
}

void NcclWorld::QueueCollective(OpKind kind, int32_t group, std::byte* buffer, int64_t bytes,
                                cudaStream_t stream) {
  const auto& [members, size, own] = groups_[group];
  const auto count = static_cast<size_t>(std::max<int64_t>(1, bytes / sizeof(float)));
  const size_t share = std::max<size_t>(1, count / size);
  auto* const numbers = reinterpret_cast<float*>(buffer);
  const Collective& collective = CollectiveOf(kind);
  const NcclBuffers buffers = {
      .from = numbers,
      .to = collective.IsExchange() ? numbers + count : numbers,
      .count = count,
      .part = share,
  };
  // Ends the NCCL group even if a call in it fails, since communicators cannot be aborted within a
  // group.
  const bool is_group = collective.IsDirect();
  if (is_group) CHECK_NCCL(GroupStart());
  const ncclResult_t status = QueueNcclCalls(kind, buffers, {members, stream, own, size}, *nccl_);
  const ncclResult_t ended = is_group ? nccl_->GroupEnd() : ncclSuccess;
  nccl_->Check(status, collective.name);
  nccl_->Check(ended, "ncclGroupEnd");
}

void NcclWorld::QueueSend(int32_t group, const std::byte* buffer, int64_t bytes,
                          cudaStream_t stream) {
  CHECK_NCCL(Send(buffer, static_cast<size_t>(bytes), ncclChar, 1, groups_[group].members, stream));
}

void NcclWorld::QueueReceive(int32_t group, std::byte* buffer, int64_t bytes, cudaStream_t stream) {
  CHECK_NCCL(Recv(buffer, static_cast<size_t>(bytes), ncclChar, 0, groups_[group].members, stream));
}

void NcclWorld::Wait(cudaStream_t stream) const {
  while (true) {
    const cudaError_t status = cudaStreamQuery(stream);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) CheckCuda(status, "cudaStreamQuery");
    ncclResult_t failed = ncclSuccess;
    CHECK_NCCL(CommGetAsyncError(world_, &failed));
    nccl_->Check(failed, "NCCL");
    for (const Group& group : groups_) {
      if (group.members == nullptr) continue;
      CHECK_NCCL(CommGetAsyncError(group.members, &failed));
      nccl_->Check(failed, "NCCL");
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace stagecraft
