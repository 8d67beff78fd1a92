#include "sim/pipeline/pass_tasks.h"

#include "costmodel/check.h"

namespace stagecraft {

PassTasks::PassTasks(std::span<const PipelineWorker> workers,
                     std::span<const MicroBatchShares> shares, int chunks, const PassCosts& costs,
                     Schedule::Builder& builder)
    : workers_(workers),
      shares_(shares),
      stages_(static_cast<int>(shares.size())),
      chunks_(chunks),
      first_worker_(shares.size(), -1) {
  size_t slots = 0;
  size_t passes = 0;
  for (size_t w = 0; w < workers.size(); ++w) {
    const PipelineWorker& worker = workers[w];
    if (first_worker_[worker.stage] < 0) first_worker_[worker.stage] = static_cast<int>(w);
    base_.push_back(slots);
    own_.push_back(shares[worker.stage].Count(worker.replica));
    slots += own_.back() * chunks;
    passes += worker.order.size();
  }
  first_.assign(2 * slots, -1);
  last_.assign(2 * slots, -1);
  send_.assign(2 * slots, -1);
  builder.Reserve(static_cast<int>(2 * passes), static_cast<int>(2 * passes));
  for (size_t w = 0; w < workers.size(); ++w) AddPasses(static_cast<int>(w), costs, builder);
  for (size_t w = 0; w < workers.size(); ++w) Connect(static_cast<int>(w), builder);
}

PassTasks::Neighbor PassTasks::Next(int worker, const Pass& pass) const {
  const PipelineWorker& from = workers_[worker];
  int stage = from.stage;
  Pass next = pass;
  if (pass.phase == Phase::kForward) {
    if (++stage == stages_) {
      stage = 0;
      ++next.chunk;
    }
  } else if (--stage < 0) {
    stage = stages_ - 1;
    --next.chunk;
  }
  if (next.chunk < 0 || next.chunk == chunks_) return {};
  const int micro_batch = shares_[from.stage].MicroBatch(from.replica, pass.micro_batch);
  const MicroBatchShares::Position receiver = shares_[stage].Find(micro_batch);
  next.micro_batch = receiver.own;
  return {first_worker_[stage] + receiver.replica, next};
}

void PassTasks::AddPasses(int w, const PassCosts& costs, Schedule::Builder& builder) {
  const PipelineWorker& worker = workers_[w];
  for (const Pass& pass : worker.order) {
    const size_t slot = Slot(w, pass);
    CHECK(first_[slot] < 0);
    Tag tag;
    tag.rank = worker.rank;
    tag.stage = static_cast<int16_t>(worker.stage);
    tag.chunk = pass.chunk;
    tag.micro_batch = shares_[worker.stage].MicroBatch(worker.replica, pass.micro_batch);
    tag.phase = pass.phase;
    for (const BlockId block : costs.Parts(w, pass)) {
      last_[slot] = builder.Add(worker.compute, {}, block, tag);
      if (first_[slot] < 0) first_[slot] = last_[slot];
      if (tag.segment < 255) ++tag.segment;  // of very many parts the last share a number
    }
    const Neighbor next = Next(w, pass);
    if (next.worker < 0) continue;
    const bool forward = pass.phase == Phase::kForward;
    tag.phase = forward ? Phase::kSendForward : Phase::kSendBackward;
    tag.segment = 0;
    const BlockId block = costs.Transfer(w, next.worker, pass);
    if (block < 0) continue;
    const std::vector<Lane>& lanes = forward ? worker.send_next : worker.send_previous;
    for (size_t i = 0; i < lanes.size(); ++i) {
      const Lane held[] = {lanes[i], worker.compute[i]};
      const std::span<const Lane> occupied(held, worker.sends_block ? 2 : 1);
      const TaskId send = builder.Add(occupied, {&last_[slot], 1}, block, tag);
      builder.SetCommunicator(send, costs.Channel(w, next.worker, static_cast<int>(i)));
      if (send_[slot] < 0) send_[slot] = send;
    }
  }
}

void PassTasks::Connect(int w, Schedule::Builder& builder) const {
  const PipelineWorker& worker = workers_[w];
  for (const Pass& pass : worker.order) {
    const Neighbor next = Next(w, pass);
    if (next.worker < 0) continue;
    const size_t slot = Slot(w, pass);
    const TaskId receiver = first_[Slot(next.worker, next.pass)];
    if (receiver < 0) continue;  // forward-only orders have no backward to feed
    if (send_[slot] < 0) {
      builder.AddDependency(last_[slot], receiver);
      continue;
    }
    const size_t sends =
        (pass.phase == Phase::kForward ? worker.send_next : worker.send_previous).size();
    for (size_t i = 0; i < sends; ++i) {
      builder.AddDependency(send_[slot] + static_cast<TaskId>(i), receiver);
    }
  }
}

}  // namespace stagecraft
