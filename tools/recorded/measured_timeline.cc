#include "tools/recorded/measured_timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "costmodel/check.h"
#include "tools/recorded/recorded_ranks.h"

namespace stagecraft {
namespace {

// A kernel on its way to becoming a task.
struct Piece {
  int rank = 0;  // into RecordedRanks::ranks
  int kernel = 0;
  int64_t start_ns = 0, end_ns = 0;
};

// The limit of a timeline (timeline_record_proto.h) for the sum of the ends of tasks.
constexpr double kMostSumNs = 4.6e18;

class Maker {
 public:
  explicit Maker(const std::vector<Recording>& recordings)
      : recordings_(recordings), ranks_(FindRanks(recordings)) {}

  MeasuredTimeline Make() {
    made_.notes = ranks_.notes;
    const std::vector<RecordedStep> steps = FindSteps(recordings_, ranks_);
    RecordedStep step = Choose(steps);
    const bool is_own = !recordings_[0].own.empty();
    if (is_own) step.start_ns = 0;  // its times are those of the timeline, which may start later
    Collect(step);
    FindWaits();
    is_own ? BuildOwn() : Build();
    Describe(steps, step, is_own);
    return std::move(made_);
  }

 private:
  const Recording& RecordingOf(const Piece& piece) const {
    return recordings_[ranks_.ranks[piece.rank].recording];
  }
  const RecordedKernel& KernelOf(const Piece& piece) const {
    return RecordingOf(piece).kernels[piece.kernel];
  }

  // The step of median time; the lower of two.
  static RecordedStep Choose(std::vector<RecordedStep> steps) {
    std::stable_sort(steps.begin(), steps.end(), [](const RecordedStep& a, const RecordedStep& b) {
      return a.end_ns - a.start_ns < b.end_ns - b.start_ns;
    });
    return steps[(steps.size() - 1) / 2];
  }

  void Collect(const RecordedStep& step) {
    double sum_ends = 0;
    CheckSpan(recordings_[0], step.start_ns, step.end_ns);
    for (int rank = 0; rank < static_cast<int>(ranks_.ranks.size()); ++rank) {
      const RecordedRank& of = ranks_.ranks[rank];
      for (const int index : of.kernels) {
        const RecordedKernel& kernel = recordings_[of.recording].kernels[index];
        ++made_.all_kernels;
        if (kernel.place.step != step.step) {
          ++(kernel.place.step < 0 ? made_.outside_of_steps : made_.in_other_steps);
          continue;
        }
        const int64_t start_ns = kernel.start_ns + of.shift_ns - step.start_ns;
        sum_ends += static_cast<double>(start_ns + kernel.end_ns - kernel.start_ns);
        pieces_.push_back({rank, index, start_ns, start_ns + kernel.end_ns - kernel.start_ns});
      }
    }
    if (sum_ends >= kMostSumNs) {
      throw InputError(fmt::format(
          "{}: got {} kernels within {} s, too many for one step: mark "
          "steps, or record fewer",
          recordings_[0].file, pieces_.size(), (step.end_ns - step.start_ns) / 1'000'000'000));
    }
  }

  // A collective of a group transfers for as long as its fastest rank takes; the others waited.
  void FindWaits() {
    using Key = std::tuple<std::string, int64_t, KernelClass>;
    struct Members {
      int64_t least_ns = 0;
      std::vector<size_t> pieces;
    };
    std::map<Key, Members> groups;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const RecordedKernel& kernel = KernelOf(pieces_[i]);
      if (kernel.collective < 0) continue;
      const Recording& recording = RecordingOf(pieces_[i]);
      const RecordedCollective& of = recording.collectives[kernel.collective];
      if (of.sequence < 0 || of.group < 0) continue;
      Members& members = groups[{recording.names[of.group], of.sequence, of.kind}];
      const int64_t took_ns = pieces_[i].end_ns - pieces_[i].start_ns;
      if (members.pieces.empty() || took_ns < members.least_ns) members.least_ns = took_ns;
      members.pieces.push_back(i);
    }
    waits_ns_.assign(pieces_.size(), 0);
    for (const auto& [key, members] : groups) {
      if (!AreOfDifferentRanks(members.pieces)) continue;
      for (const size_t i : members.pieces) {
        waits_ns_[i] = pieces_[i].end_ns - pieces_[i].start_ns - members.least_ns;
      }
    }
  }

  bool AreOfDifferentRanks(const std::vector<size_t>& pieces) const {
    std::vector<int> ranks;
    for (const size_t i : pieces) ranks.push_back(pieces_[i].rank);
    std::sort(ranks.begin(), ranks.end());
    return ranks.size() > 1 && std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end();
  }

  void AddRanks() {
    for (const RecordedRank& rank : ranks_.ranks) {
      builder_.AddRank({.device = rank.rank});
    }
  }

  // Lanes of streams in order: what most of a stream's time goes to decides on the kind.
  void AddLanes() {
    struct Shares {
      int64_t compute_ns = 0, communication_ns = 0, copy_ns = 0;
    };
    std::map<std::pair<int, int32_t>, Shares> streams;
    for (const Piece& piece : pieces_) {
      const RecordedKernel& kernel = KernelOf(piece);
      Shares& shares = streams[{piece.rank, kernel.stream}];
      const int64_t took_ns = piece.end_ns - piece.start_ns;
      (IsCommunication(kernel.kind)        ? shares.communication_ns
       : kernel.kind == KernelClass::kCopy ? shares.copy_ns
                                           : shares.compute_ns) += took_ns;
    }
    for (const auto& [stream, shares] : streams) {
      LaneKind kind = LaneKind::kCompute;
      if (shares.communication_ns > shares.compute_ns) kind = LaneKind::kData;
      if (shares.copy_ns > std::max(shares.communication_ns, shares.compute_ns)) {
        kind = LaneKind::kHostOut;
      }
      lanes_.emplace(stream, builder_.AddLane({stream.first, kind}));
    }
  }

  OpSequenceId OpsOf(const Piece& piece) {
    const RecordedKernel& kernel = KernelOf(piece);
    if (kernel.gemm < 0) return -1;
    const Op& op = RecordingOf(piece).gemms[kernel.gemm];
    const auto [found, is_new] = op_sequences_.try_emplace(op);
    if (is_new) {
      const OpId id[] = {builder_.AddOp(op)};
      found->second = builder_.AddOpSequence(id);
    }
    return found->second;
  }

  // The phase of a collective in a pass is that of what it moves, if its kind tells.
  static Phase PhaseOf(const RecordedKernel& kernel) {
    return kernel.place.phase.value_or(Phase::kForward);
  }

  void AddTask(size_t index, std::span<const Lane> lanes, const Tag& tag) {
    const Piece& piece = pieces_[index];
    const RecordedKernel& kernel = KernelOf(piece);
    builder_.Add(lanes, {}, OpsOf(piece), tag);
    start_.push_back(Duration::Nanoseconds(piece.start_ns));
    end_.push_back(Duration::Nanoseconds(piece.end_ns));
    TracedKernel traced;
    traced.name = names_.Intern(RecordingOf(piece).names[kernel.name]);
    traced.kind = kernel.kind;
    traced.layer = kernel.place.layer;
    traced.has_phase = kernel.place.phase.has_value();
    traced.waits = Duration::Nanoseconds(waits_ns_[index]);
    profile_.kernels.push_back(traced);
    made_.sources.push_back({ranks_.ranks[piece.rank].recording, piece.kernel});
  }

  void Build() {
    AddRanks();
    AddLanes();
    std::vector<size_t> order(pieces_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(pieces_[a].start_ns, pieces_[a].rank) <
             std::pair(pieces_[b].start_ns, pieces_[b].rank);
    });
    for (const size_t index : order) {
      const RecordedKernel& kernel = KernelOf(pieces_[index]);
      Tag tag;
      tag.rank = pieces_[index].rank;
      tag.micro_batch = kernel.place.micro_batch;
      tag.phase = PhaseOf(kernel);
      const Lane lanes[] = {lanes_.at({pieces_[index].rank, kernel.stream})};
      AddTask(index, lanes, tag);
    }
  }

  // Tasks that `export` wrote, one event for each lane of a task.
  void BuildOwn() {
    AddRanks();
    struct OwnPiece {
      size_t index = 0;
      std::vector<Lane> lanes;
    };
    std::map<int32_t, OwnPiece> tasks;
    std::map<std::pair<int, int32_t>, LaneKind> kinds;
    for (const Piece& piece : pieces_) {
      if (!OwnOf(piece).lane) continue;
      kinds.emplace(std::pair(piece.rank, KernelOf(piece).stream), *OwnOf(piece).lane);
    }
    for (const auto& [stream, kind] : kinds) {
      lanes_.emplace(stream, builder_.AddLane({stream.first, kind}));
    }
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      const auto [found, is_new] = tasks.try_emplace(OwnOf(piece).task);
      if (is_new) found->second.index = i;
      const Piece& first = pieces_[found->second.index];
      if (first.start_ns != piece.start_ns || first.end_ns != piece.end_ns) {
        throw InputError(
            fmt::format("{}: stagecraft task {}: got different times on two lanes, want "
                        "the same",
                        RecordingOf(piece).file, OwnOf(piece).task));
      }
      if (!OwnOf(piece).lane) continue;
      found->second.lanes.push_back(lanes_.at({piece.rank, KernelOf(piece).stream}));
    }
    for (auto& [task, own] : tasks) {
      const Tag& tag = OwnOf(pieces_[own.index]).tag;
      if (tag.rank >= std::ssize(ranks_.ranks)) {
        throw InputError(
            fmt::format("{}: stagecraft rank: got {}, want less than the {} ranks of the "
                        "trace",
                        recordings_[0].file, tag.rank, ranks_.ranks.size()));
      }
      std::sort(own.lanes.begin(), own.lanes.end());
      own.lanes.erase(std::unique(own.lanes.begin(), own.lanes.end()), own.lanes.end());
      AddTask(own.index, own.lanes, tag);
    }
  }

  const OwnTask& OwnOf(const Piece& piece) const {
    const RecordedKernel& kernel = KernelOf(piece);
    if (kernel.own >= 0) return RecordingOf(piece).own[kernel.own];
    throw InputError(
        fmt::format("{}: kernel \"{}\": got no stagecraft task, want one for every "
                    "kernel of a trace that export wrote",
                    RecordingOf(piece).file, RecordingOf(piece).names[kernel.name]));
  }

  void Describe(const std::vector<RecordedStep>& steps, const RecordedStep& step, bool is_own) {
    Measurement measurement;
    measurement.executor = recordings_[0].profiler;
    measurement.software = recordings_[0].software;
    bool knows_gpus = true;
    for (const RecordedRank& rank : ranks_.ranks) {
      measurement.devices.push_back(rank.gpu);
      knows_gpus = knows_gpus && !rank.gpu.empty();
    }
    if (!knows_gpus) measurement.devices.clear();
    if (is_own) {
      for (const int64_t ns : recordings_[0].own_steps_ns) {
        if (ns > 0) measurement.steps.push_back(Duration::Nanoseconds(ns));
      }
    } else {
      for (const RecordedStep& each : steps) {
        measurement.steps.push_back(
            Duration::Nanoseconds(std::max<int64_t>(each.end_ns - each.start_ns, 1)));
      }
      if (step.step < 0) {
        made_.notes.push_back(
            "no step is marked (by ProfilerStep#, \"iteration 12\", \"step 12\"): "
            "everything that was recorded is taken for one step");
      }
    }
    made_.record.schedule = builder_.Build();
    made_.record.timeline = Timeline(std::move(start_), std::move(end_));
    made_.record.measurement = std::move(measurement);
    profile_.names = names_.names();
    profile_.world_size = ranks_.world_size;
    made_.record.kernels = std::move(profile_);
  }

  const std::vector<Recording>& recordings_;
  const RecordedRanks ranks_;
  MeasuredTimeline made_;
  std::vector<Piece> pieces_;
  std::vector<int64_t> waits_ns_;
  Schedule::Builder builder_;
  std::map<std::pair<int, int32_t>, Lane> lanes_;
  std::unordered_map<Op, OpSequenceId> op_sequences_;
  std::vector<Duration> start_, end_;
  NameTable names_;
  KernelProfile profile_;
};

}  // namespace

MeasuredTimeline MakeMeasuredTimeline(const std::vector<Recording>& recordings) {
  CHECK(!recordings.empty());
  return Maker(recordings).Make();
}

}  // namespace stagecraft
