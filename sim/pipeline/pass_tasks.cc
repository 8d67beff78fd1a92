#include "sim/pipeline/pass_tasks.h"

#include <algorithm>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Returns the unit that begins at position `first` of an order.
std::span<const Pass> UnitAt(std::span<const Pass> order, size_t first) {
  size_t last = first;
  while (order[last].beside_next) {
    ++last;
    CHECK(last < order.size());
  }
  return {order.data() + first, last + 1 - first};
}

}  // namespace

PassTasks::PassTasks(std::span<const PipelineWorker> workers,
                     std::span<const MicroBatchShares> shares, const ChunkMap& map,
                     PassCosts& costs, Schedule::Builder& builder)
    : workers_(workers), shares_(shares), map_(map), first_worker_(shares.size(), -1) {
  CountChunks();
  CountSlots();
  FindLinks();
  size_t passes = 0;
  for (const PipelineWorker& worker : workers) passes += worker.order.size();
  builder.Reserve(static_cast<int>(2 * passes), static_cast<int>(2 * passes));
  updates_.resize(workers.size());
  end_.resize(workers.size());
  for (size_t w = 0; w < workers.size(); ++w) {
    const std::span<const Pass> order = workers[w].order;
    const std::vector<WeightUpdate>& updates = workers[w].updates;
    for (size_t i = 0; i < order.size();) {
      const Unit unit = UnitAt(order, i);
      AddUnit(static_cast<int>(w), unit, costs, builder);
      i += unit.size();
      const size_t done = updates_[w].size();
      if (done < updates.size() && updates[done].behind < static_cast<int>(i)) {
        AddUpdate(static_cast<int>(w), costs, builder);
      }
    }
  }
  for (size_t w = 0; w < workers.size(); ++w) {
    const std::span<const Pass> order = workers[w].order;
    for (size_t i = 0; i < order.size();) {
      const Unit unit = UnitAt(order, i);
      Connect(static_cast<int>(w), unit, builder);
      i += unit.size();
    }
  }
}

void PassTasks::CountChunks() {
  chunks_ = map_.chunks();
  for (const PipelineWorker& worker : workers_) {
    for (const Pass& pass : worker.order) chunks_ = std::max(chunks_, pass.chunk + 1);
  }
}

void PassTasks::CountSlots() {
  const auto is_split = [](const Pass& pass) { return pass.phase == Phase::kBackwardWeight; };
  for (const PipelineWorker& worker : workers_) {
    if (std::any_of(worker.order.begin(), worker.order.end(), is_split)) kinds_ = 3;
  }
  size_t slots = 0;
  for (size_t w = 0; w < workers_.size(); ++w) {
    const PipelineWorker& worker = workers_[w];
    if (first_worker_[worker.stage] < 0) first_worker_[worker.stage] = static_cast<int>(w);
    const int own = shares_[worker.stage].Count(worker.replica);
    for (int chunk = 0; chunk < chunks_; ++chunk) {
      base_.push_back(slots);
      const bool is_apart = chunk >= map_.chunks();
      const int chain = is_apart ? 0 : map_.PartAt({worker.stage, chunk}).chain;
      slots += static_cast<size_t>(map_.MicroBatches(chain, own)) * kinds_;
    }
  }
  first_.assign(slots, -1);
  last_.assign(slots, -1);
  hand_on_.assign(slots, {});
  const auto exchanges = [](const PipelineWorker& worker) { return !worker.exchange.empty(); };
  if (std::any_of(workers_.begin(), workers_.end(), exchanges)) exchanges_.assign(slots, {});
}

void PassTasks::FindLinks() {
  is_single_ = workers_.size() == shares_.size();
  for (int stage = 0; stage < map_.stages(); ++stage) {
    for (int chunk = 0; chunk < map_.chunks(); ++chunk) {
      for (const int step : {-1, 1}) {
        ChunkMap::Part part = map_.PartAt({stage, chunk});
        part.index += step;
        Link& link = links_.emplace_back();
        if (part.index < 0 || part.index == map_.length()) continue;
        const ChunkMap::Place place = map_.PlaceOf(part);
        link = {place.stage, static_cast<int16_t>(place.chunk)};
      }
    }
  }
}

PassTasks::Neighbor PassTasks::Next(int worker, const Pass& pass, int step) const {
  if (pass.phase == Phase::kBackwardWeight || IsApart(pass)) return {};
  const PipelineWorker& from = workers_[worker];
  const bool is_behind = (pass.phase == Phase::kForward) == (step > 0);
  const auto [stage, chunk] = links_[2 * (from.stage * map_.chunks() + pass.chunk) + is_behind];
  if (stage < 0) return {};
  Pass next = pass;
  next.chunk = chunk;
  if (is_single_) return {first_worker_[stage], next};
  const int micro_batch = shares_[from.stage].MicroBatch(from.replica, pass.micro_batch);
  const MicroBatchShares::Position receiver = shares_[stage].Find(micro_batch);
  next.micro_batch = receiver.own;
  return {first_worker_[stage] + receiver.replica, next};
}

// The micro-batches of a step are numbered chain after chain.
int PassTasks::MicroBatchOf(int w, const Pass& pass) const {
  if (map_.chains() == 1 && is_single_) return pass.micro_batch;
  const PipelineWorker& worker = workers_[w];
  const MicroBatchShares& shares = shares_[worker.stage];
  if (map_.chains() == 1) return shares.MicroBatch(worker.replica, pass.micro_batch);
  int before = 0;
  for (int chain = 0; chain < map_.PartAt({worker.stage, pass.chunk}).chain; ++chain) {
    before += map_.MicroBatches(chain, shares.Count(worker.replica));
  }
  return before + pass.micro_batch;
}

Tag PassTasks::TagOf(int w, const Pass& pass) const {
  Tag tag;
  tag.rank = workers_[w].rank;
  tag.stage = static_cast<int16_t>(workers_[w].stage);
  tag.chunk = pass.chunk;
  tag.micro_batch = MicroBatchOf(w, pass);
  tag.phase = pass.phase;
  return tag;
}

void PassTasks::AddUnit(int w, Unit unit, PassCosts& costs, Schedule::Builder& builder) {
  const PipelineWorker& worker = workers_[w];
  const HandOn before = end_[w];
  TaskId last = -1;
  for (const Pass& pass : unit) {
    const size_t slot = Slot(w, pass);
    CHECK(first_[slot] < 0);
    Tag tag = TagOf(w, pass);
    for (const OpSequenceId op_sequence : costs.Parts(w, pass, unit.size() > 1)) {
      const bool is_first = last < 0;
      last = builder.Add(worker.compute, {}, op_sequence, tag);
      for (int i = 1; is_first && i < before.count; ++i) {
        builder.AddDependency(before.first + i, last);
      }
      if (first_[slot] < 0) first_[slot] = last;
      if (tag.segment < 255) ++tag.segment;  // parts beyond the 255th share its number
    }
    last_[slot] = last;
  }
  end_[w] = {last, 1};
  if (unit.size() > 1 && !worker.exchange.empty()) AddExchanges(w, unit, before, costs, builder);
  for (const Pass& pass : unit) {
    hand_on_[Slot(w, pass)] = AddTransfers(w, pass, end_[w], costs, builder);
  }
}

void PassTasks::AddExchanges(int w, Unit unit, HandOn before, PassCosts& costs,
                             Schedule::Builder& builder) {
  const PipelineWorker& worker = workers_[w];
  HandOn& exchanges = exchanges_[Slot(w, unit[0])];
  for (const Pass& pass : unit) {
    const OpSequenceId op_sequence = costs.Exchanges(w, pass);
    if (op_sequence < 0) continue;
    Tag tag = TagOf(w, pass);
    tag.phase = Phase::kExpertExchange;
    const std::span<const TaskId> after(&before.first, before.count > 0 ? 1 : 0);
    const TaskId task = builder.Add(worker.exchange, after, op_sequence, tag);
    if (exchanges.count++ == 0) exchanges.first = task;
  }
  end_[w].count += exchanges.count;
}

void PassTasks::AddUpdate(int w, PassCosts& costs, Schedule::Builder& builder) {
  const PipelineWorker& worker = workers_[w];
  const Pass& complete = worker.order[worker.updates[updates_[w].size()].complete];
  Tag tag;
  tag.rank = worker.rank;
  tag.stage = static_cast<int16_t>(worker.stage);
  tag.micro_batch = MicroBatchOf(w, complete);
  tag.phase = Phase::kOptimizer;
  const TaskId update = builder.Add(worker.compute, {}, costs.Update(w), tag);
  for (int i = 1; i < end_[w].count; ++i) builder.AddDependency(end_[w].first + i, update);
  end_[w] = {update, 1};
  updates_[w].push_back(update);
}

PassTasks::HandOn PassTasks::AddTransfers(int w, const Pass& pass, HandOn after, PassCosts& costs,
                                          Schedule::Builder& builder) {
  const Neighbor next = Next(w, pass, 1);
  if (next.worker < 0) return {};
  const OpSequenceId first = costs.Transfer(w, next.worker, pass, 0);
  if (first < 0) return after;
  const PipelineWorker& worker = workers_[w];
  const bool forward = pass.phase == Phase::kForward;
  Tag tag = TagOf(w, pass);
  tag.phase = forward ? Phase::kSendForward : Phase::kSendBackward;
  const std::vector<Lane>& lanes =
      forward != map_.RunsBack(pass.chunk) ? worker.send_next : worker.send_previous;
  HandOn sends;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane held[] = {lanes[i], worker.compute[i]};
    const std::span<const Lane> occupied(held, worker.sends_block ? 2 : 1);
    const auto device = static_cast<int>(i);
    const OpSequenceId op_sequence = i == 0 ? first : costs.Transfer(w, next.worker, pass, device);
    const TaskId send = builder.Add(occupied, {&after.first, 1}, op_sequence, tag);
    for (int other = 1; other < after.count; ++other) {
      builder.AddDependency(after.first + other, send);
    }
    builder.SetCommunicator(send, costs.Channel(w, next.worker, pass, device));
    if (sends.count++ == 0) sends.first = send;
  }
  return sends;
}

// A unit begins only when the inputs of all its passes are there.
void PassTasks::Connect(int w, Unit unit, Schedule::Builder& builder) const {
  const size_t slot = Slot(w, unit[0]);
  const HandOn exchanges = exchanges_.empty() ? HandOn() : exchanges_[slot];
  for (const Pass& pass : unit) {
    const Neighbor feeder = Next(w, pass, -1);
    if (feeder.worker < 0) continue;
    const HandOn& from = hand_on_[Slot(feeder.worker, feeder.pass)];
    for (int i = 0; i < from.count; ++i) {
      builder.AddDependency(from.first + i, first_[slot]);
      for (int e = 0; e < exchanges.count; ++e) {
        builder.AddDependency(from.first + i, exchanges.first + e);
      }
    }
  }
}

}  // namespace stagecraft
