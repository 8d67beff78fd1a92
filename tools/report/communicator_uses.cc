#include "tools/report/communicator_uses.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/engine/repeated_tasks.h"

namespace stagecraft {
namespace {

// What FindCommunicators() sums up of the tasks of one phase, stage and op.
struct Sums {
  CommunicatorUse use;
  Bytes largest;         // of the ops
  TaskId with_most = 0;  // the last task with an op that large
  OpId most = -1;        // that op; -1: none yet
};

// What an op sequence sends in one phase and stage: only the ops that are like its first one count.
// The ops that follow a message are not between its sender and its receiver.
struct SentOps {
  size_t sums = 0;  // to which it belongs, as an index
  OpId first = 0;
  Bytes bytes;    // of all of these ops
  OpId most = 0;  // the last of those with the most bytes
};

class Collector {
 public:
  explicit Collector(const SimulatedStep& step)
      : step_(step),
        schedule_(step.schedule),
        tasks_(step.schedule, step.repetition),
        seen_by_(step.schedule.ranks().size(), -1) {}

  std::vector<CommunicatorUse> Run() {
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      if (schedule_.communicator(task) < 0 || schedule_.op_sequence(task) < 0) continue;
      const Op& first = schedule_.op(schedule_.ops(schedule_.op_sequence(task))[0]);
      if (first.fabric.ranks >= 2) Add(task);
    }
    std::vector<CommunicatorUse> list;
    for (const auto& [key, index] : by_key_) {
      Sums& sums = sums_[index];
      sums.use.fabric = schedule_.op(sums.most).fabric;
      sums.use.method = step_.costs.MethodOf(schedule_, sums.with_most, sums.most);
      list.push_back(std::move(sums.use));
    }
    return list;
  }

 private:
  using Key = std::tuple<Phase, int, OpKind, int, int>;

  void Add(TaskId task) {
    const SentOps& sent = SentBy(task);
    Sums& sums = sums_[sent.sums];
    const int32_t communicator = schedule_.communicator(task);
    const int64_t alike = Multiplicity(task, schedule_.op(sent.first));
    const int64_t times = alike * tasks_.Count(task);
    const int64_t beside = std::ssize(schedule_.communicators()[communicator]);
    sums.use.tasks += times;
    sums.use.bytes += Bytes(times * beside * sent.bytes.count());
    const Bytes most = schedule_.op(sent.most).bytes;
    if (most >= sums.largest) {
      sums.largest = most;
      sums.with_most = task;
      sums.most = sent.most;
    }
    const uint64_t user = (uint64_t{sent.sums} << 32) | static_cast<uint32_t>(communicator);
    if (users_.insert(user).second) sums.use.groups += alike * beside;
  }

  const SentOps& SentBy(TaskId task) {
    const Tag& tag = schedule_.tag(task);
    const uint64_t key = (uint64_t{static_cast<uint32_t>(schedule_.op_sequence(task))} << 32) |
                         (uint64_t{static_cast<uint16_t>(tag.stage)} << 16) |
                         static_cast<uint64_t>(tag.phase);
    const auto [entry, is_new] = sent_.try_emplace(key);
    if (is_new) entry->second = Describe(task);
    return entry->second;
  }

  SentOps Describe(TaskId task) {
    const auto ops = schedule_.ops(schedule_.op_sequence(task));
    const Op& first = schedule_.op(ops[0]);
    SentOps sent = {SumsOf(task, first), ops[0], {}, ops[0]};
    for (const OpId id : ops) {
      const Op& op = schedule_.op(id);
      if (op.kind != first.kind) continue;
      sent.bytes += op.bytes;
      if (op.bytes >= schedule_.op(sent.most).bytes) sent.most = id;
    }
    return sent;
  }

  size_t SumsOf(TaskId task, const Op& op) {
    const Tag& tag = schedule_.tag(task);
    const auto [entry, is_new] = by_key_.try_emplace(
        Key(tag.phase, tag.stage, op.kind, op.fabric.nodes, op.fabric.ranks), sums_.size());
    if (!is_new) return entry->second;
    CommunicatorUse& use = sums_.emplace_back().use;
    use.phase = tag.phase;
    use.stage = tag.stage;
    use.kind = op.kind;
    use.first_group = schedule_.communicators()[schedule_.communicator(task)][0];
    return entry->second;
  }

  // How often the cluster runs a task that is simulated once: the number of devices for which the
  // ranks of its lanes stand, over the number of those that its communicator names. A message is
  // sent once by each device for which its sender stands.
  int64_t Multiplicity(TaskId task, const Op& op) {
    int64_t devices = 0;
    for (const Lane lane : schedule_.lanes(task)) {
      const int32_t rank = schedule_.lane_infos()[Index(lane)].rank;
      if (std::exchange(seen_by_[rank], task) == task) continue;
      devices += schedule_.ranks()[rank].multiplicity;
    }
    if (op.kind == OpKind::kSendRecv) return devices;
    int64_t named = 0;
    for (const auto& group : schedule_.communicators()[schedule_.communicator(task)]) {
      named += std::ssize(group) - op.sync.servers;
    }
    return std::max<int64_t>(1, devices / named);
  }

  const SimulatedStep& step_;
  const Schedule& schedule_;
  const RepeatedTasks tasks_;
  std::map<Key, size_t> by_key_;  // into sums_
  std::vector<Sums> sums_;
  std::unordered_map<uint64_t, SentOps> sent_;  // by op sequence, stage and phase
  std::unordered_set<uint64_t> users_;          // sums and communicator
  std::vector<TaskId> seen_by_;                 // by rank: the last task that counted it
};

// Returns the different numbers >= 0, ascending. Links of a large group lie close together, so
// marks in a row of bits take less time than sorting.
std::vector<int> Distinct(std::vector<int> numbers) {
  if (numbers.empty()) return numbers;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const int first = *least;
  std::vector<bool> marked(static_cast<size_t>(*most - first) + 1);
  if (marked.size() / 64 > numbers.size()) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }
  for (const int number : numbers) marked[number - first] = true;
  numbers.clear();
  for (auto next = std::find(marked.begin(), marked.end(), true); next != marked.end();
       next = std::find(next + 1, marked.end(), true)) {
    numbers.push_back(first + static_cast<int>(next - marked.begin()));
  }
  return numbers;
}

}  // namespace

std::vector<int> LinksOf(const CommunicatorUse& use, const Cluster& cluster) {
  const std::vector<int32_t>& group = use.first_group;
  std::vector<int> links;
  for (size_t i = 0; i < group.size(); ++i) {
    if (use.IsMessage() && i > 0) break;
    const int to = group[(i + 1) % group.size()];
    if (to == group[i]) continue;
    const std::vector<int> route = cluster.FindRoute(group[i], to).links;
    links.insert(links.end(), route.begin(), route.end());
  }
  return Distinct(std::move(links));
}

std::vector<CommunicatorUse> FindCommunicators(const SimulatedStep& step) {
  return Collector(step).Run();
}

}  // namespace stagecraft
