#include "sim/analysis/schedule_difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "costmodel/op.h"

namespace stagecraft {
namespace {

using Difference = std::optional<std::string>;

std::string Show(int64_t value) { return value < 0 ? "none" : std::to_string(value); }

// "[3, 5, 7 and 20 more]".
template <typename List>
std::string ShowList(const List& values) {
  constexpr size_t kMostShown = 8;
  const size_t shown = std::min(values.size(), kMostShown);
  std::string text = fmt::format(
      "[{}", fmt::join(values.begin(), values.begin() + static_cast<int64_t>(shown), ", "));
  if (shown < values.size()) text += fmt::format(" and {} more", values.size() - shown);
  return text + "]";
}

Op WithoutLinks(Op op) {
  const int ranks = op.fabric.ranks;
  op.fabric = {};
  op.fabric.ranks = ranks;
  op.sync.server = op.sync.worker = {};
  return op;
}

std::vector<int32_t> Indices(std::span<const Lane> lanes) {
  std::vector<int32_t> indices;
  for (const Lane lane : lanes) indices.push_back(Index(lane));
  return indices;
}

class Finder {
 public:
  Finder(const Schedule& want, const Schedule& got)
      : want_(want), got_(got), alike_(want.op_sequence_count(), -1) {}

  Difference Find() {
    const int tasks = std::min(want_.task_count(), got_.task_count());
    for (TaskId task = 0; task < tasks; ++task) {
      if (const Difference found = OfTask(task)) {
        return fmt::format("tasks[{}].{} ({})", task, *found, Place(want_.tag(task)));
      }
    }
    if (want_.task_count() != got_.task_count()) {
      return fmt::format("tasks: got {} tasks, want {}", got_.task_count(), want_.task_count());
    }
    return OfRanks();
  }

 private:
  // Returns where the task is and, if they differ, the numbers of tasks of both schedules.
  std::string Place(const Tag& tag) const {
    std::string place = tag.micro_batch < 0
                            ? Name(tag.phase)
                            : fmt::format("{} of micro-batch {}", Name(tag.phase), tag.micro_batch);
    if (tag.rank >= 0) place += fmt::format(" on rank {}", tag.rank);
    if (want_.task_count() == got_.task_count()) return place;
    return place + fmt::format("; of {} tasks, want {}", got_.task_count(), want_.task_count());
  }

  static Difference OfField(const char* field, int64_t want, int64_t got) {
    if (want == got) return {};
    return fmt::format("{}: got {}, want {}", field, Show(got), Show(want));
  }

  template <typename List>
  static Difference OfList(const char* field, const List& want, const List& got) {
    if (std::equal(want.begin(), want.end(), got.begin(), got.end())) return {};
    return fmt::format("{}: got {}, want {}", field, ShowList(got), ShowList(want));
  }

  Difference OfTask(TaskId task) {
    if (Difference found = OfTag(want_.tag(task), got_.tag(task))) return found;
    if (Difference found = OfLanes(task)) return found;
    if (Difference found = OfList("successors", want_.successors(task), got_.successors(task))) {
      return found;
    }
    return OfOpSequence(want_.op_sequence(task), got_.op_sequence(task));
  }

  static Difference OfTag(const Tag& want, const Tag& got) {
    if (want.phase != got.phase) {
      return fmt::format("phase: got {}, want {}", Name(got.phase), Name(want.phase));
    }
    Difference found = OfField("rank", want.rank, got.rank);
    if (!found) found = OfField("stage", want.stage, got.stage);
    if (!found) found = OfField("chunk", want.chunk, got.chunk);
    if (!found) found = OfField("micro_batch", want.micro_batch, got.micro_batch);
    if (!found) found = OfField("segment", want.segment, got.segment);
    return found;
  }

  static LaneInfo InfoOf(const Schedule& schedule, Lane lane) {
    const auto infos = schedule.lane_infos();
    const auto index = static_cast<size_t>(Index(lane));
    return index < infos.size() ? infos[index] : LaneInfo();
  }

  Difference OfLanes(TaskId task) const {
    const auto want_lanes = want_.lanes(task), got_lanes = got_.lanes(task);
    if (!std::equal(want_lanes.begin(), want_lanes.end(), got_lanes.begin(), got_lanes.end())) {
      return OfList("lanes", Indices(want_lanes), Indices(got_lanes));
    }
    for (const Lane lane : want_lanes) {
      const LaneInfo want = InfoOf(want_, lane), got = InfoOf(got_, lane);
      if (want.rank == got.rank && want.kind == got.kind) continue;
      return fmt::format("lanes: got {} as {} of rank {}, want {} of rank {}", Index(lane),
                         Name(got.kind), Show(got.rank), Name(want.kind), Show(want.rank));
    }
    return {};
  }

  // Op sequences are numbered in the order in which they are added, so they are compared by what
  // they hold, each pair only once.
  Difference OfOpSequence(OpSequenceId want, OpSequenceId got) {
    if (want < 0 && got < 0) return {};
    if (want < 0 || got < 0) return OfField("block", want, got);
    if (alike_[want] == got) return {};
    const auto want_ops = want_.ops(want), got_ops = got_.ops(got);
    if (Difference found = OfField("ops size", std::ssize(want_ops), std::ssize(got_ops))) {
      return found;
    }
    for (size_t i = 0; i < want_ops.size(); ++i) {
      const Op want_op = WithoutLinks(want_.op(want_ops[i]));
      const Op got_op = WithoutLinks(got_.op(got_ops[i]));
      const bool has_same_flags = want_.flags(want)[i] == got_.flags(got)[i];
      if (want_op == got_op && has_same_flags) continue;
      return fmt::format(
          "ops[{}]: got {}, want {}{}", i, Describe(got_op), Describe(want_op),
          Describe(got_op) == Describe(want_op) ? "; they differ in a field not shown" : "");
    }
    alike_[want] = got;
    return {};
  }

  Difference OfRanks() const {
    const auto want = want_.ranks(), got = got_.ranks();
    Difference found = OfField("ranks size", std::ssize(want), std::ssize(got));
    for (size_t rank = 0; !found && rank < want.size(); ++rank) {
      found = OfField("stage", want[rank].stage, got[rank].stage);
      if (!found) found = OfField("replica", want[rank].replica, got[rank].replica);
      if (!found) found = OfField("multiplicity", want[rank].multiplicity, got[rank].multiplicity);
      if (found) found = fmt::format("ranks[{}].{}", rank, *found);
    }
    return found;
  }

  const Schedule& want_;
  const Schedule& got_;
  std::vector<OpSequenceId>
      alike_;  // by sequence of want_: the one of got_ that was last found equal
};

}  // namespace

std::optional<std::string> FindDifference(const Schedule& want, const Schedule& got) {
  return Finder(want, got).Find();
}

}  // namespace stagecraft
