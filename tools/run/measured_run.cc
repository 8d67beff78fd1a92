#include "tools/run/measured_run.h"

#include <fmt/core.h>

#include <chrono>
#include <fstream>
#include <limits>
#include <ostream>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "costmodel/proto_file.h"
#include "proto/timeline.pb.h"
#include "runtime/run_log.h"
#include "runtime/scratch_folder.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/schedule/timeline_record_proto.h"
#include "tools/run/checkpoint_place.h"
#include "tools/run/host_ranks.h"
#include "tools/run/measured_history.h"
#include "tools/run/rank_request.h"
#include "tools/run/step_lines.h"

namespace stagecraft {
namespace {

// The median of so many checkpoints is how long one takes.
constexpr int kTrialWrites = 3;

Duration Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return Duration::Nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

Bytes Sum(const std::vector<Bytes>& states) {
  Bytes sum;
  for (const Bytes state : states) sum += state;
  return sum;
}

// Returns the memory that processes may take without others losing theirs.
Bytes FreeMemory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, unit; file >> name;) {
    int64_t kib = 0;
    if (name == "MemAvailable:" && file >> kib) return Bytes(kib << 10);
    std::getline(file, unit);
  }
  return Bytes(std::numeric_limits<int64_t>::max());
}

void RequireMemory(Bytes states) {
  const Bytes free = FreeMemory();
  if (states <= free) return;
  throw InputError(fmt::format(
      "run: the ranks keep {:.1f} GB of weights and optimizer states, want at most the {:.1f} GB "
      "of "
      "free memory",
      static_cast<double>(states.count()) * 1e-9, static_cast<double>(free.count()) * 1e-9));
}

const LogEntry* DeathIn(const ProcessesLife& life) {
  for (const LogEntry& entry : life.log) {
    if (entry.what == LogEntry::What::kDying) return &entry;
  }
  return nullptr;
}

class RunMeasurement {
 public:
  RunMeasurement(const Schedule& schedule, const std::vector<Bytes>& states,
                 const RunRequest& request, std::ostream& err)
      : request_(request),
        states_(states),
        err_(err),
        ranks_(static_cast<int>(schedule.ranks().size())),
        schedule_(ToProto(schedule).SerializeAsString()),
        run_(RunOf(schedule_, states)),
        place_(request.measured_run->folder, {run_, ranks_}) {
    WriteFileAtomically(folder_.File("schedule.pb"), schedule_);
    result_.first_step = place_.first();
    for (const RankKill& kill : request.measured_run->kills) {
      if (kill.step > place_.first()) kills_.push_back(kill);
    }
    if (!Saves()) return;
    result_.costs.checkpoint = Sum(states);
    place_.RequireRoom(Sum(states));
    if (place_.first() < request.measured_run->steps) return;
    throw InputError(fmt::format(
        "--checkpoint-folder: {} has the checkpoint of this run after {} steps, want more --steps "
        "than these, or an empty folder",
        place_.path(), place_.first()));
  }

  std::optional<MeasuredRun> Run() {
    if (!Rehearse()) return std::nullopt;
    if (place_.first() > 0 && !request_.quiet) {
      err_ << fmt::format("the run goes on after step {}, from {}\n", place_.first(), place_.path())
           << std::flush;
    }
    std::vector<ProcessesLife> lives;
    for (int64_t first = place_.first();;) {
      std::optional<ProcessesLife> life = Live(From(first));
      if (!life) return Stopped();
      lives.push_back(std::move(*life));
      const LogEntry* const death = DeathIn(lives.back());
      if (death == nullptr) break;
      first = place_.Latest();
      NoteKills(*death, first);
    }
    result_.costs.restart = RestartTime(lives[0]);
    result_.costs.reload = ReloadTime(lives[0]);
    result_.history = MeasuredHistory(lives, ranks_);
    TimelineProto timeline;
    ReadProtoFile(folder_.File("timeline.pb"), &timeline);
    result_.record = TimelineRecordFromProto(timeline, "timeline");
    return std::move(result_);
  }

 private:
  static uint64_t RunOf(const std::string& schedule, const std::vector<Bytes>& states) {
    Hash hash;
    hash.Add(schedule);
    for (const Bytes state : states) hash.Add(state.count());
    return hash.value();
  }

  bool Saves() const { return request_.measured_run->checkpoint_every > 0; }

  HostTraining From(int64_t first) const {
    HostTraining training;
    training.run = run_;
    training.first = first;
    training.steps = request_.measured_run->steps;
    training.checkpoint_every = request_.measured_run->checkpoint_every;
    training.folder = place_.path();
    training.kills = kills_;
    return training;
  }

  // Measures what can be measured before the run. Returns false if it was stopped.
  bool Rehearse() {
    if (!Saves() && kills_.empty()) return true;
    HostTraining rehearsal = From(place_.first());
    rehearsal.is_rehearsal = true;
    rehearsal.trial_writes = kTrialWrites;
    rehearsal.trial_folder = place_.trial_path();
    const std::optional<ProcessesLife> life = Live(std::move(rehearsal));
    place_.EndTrial();
    if (!life) return false;
    result_.costs.write = MedianSaveTime(life->log);
    if (const LogEntry* death = DeathIn(*life)) {
      result_.costs.detection = life->ended - death->time;
    }
    return true;
  }

  // Starts all processes, and returns when they have ended; no value if they were stopped.
  std::optional<ProcessesLife> Live(HostTraining training) {
    training.log = folder_.File(fmt::format("log-{}", starts_++).c_str());
    const RankRequest request = {
        .speeds = request_.speeds, .counts = {}, .training = training, .states = states_};
    WriteFileAtomically(folder_.File("request.pb"), ToProto(request).SerializeAsString());
    StepLines lines(err_, request_.quiet);
    const auto hear = [&](const std::string& line) {
      constexpr std::string_view kState = "state ";
      if (line.starts_with(kState)) {
        result_.state = line.substr(kState.size());
      } else {
        lines.Show(line);
      }
    };
    ProcessesLife life;
    life.started = Now();
    const HostRanksEnd end = StartHostRanks(
        ranks_,
        {folder_.File("schedule.pb"), folder_.File("request.pb"), folder_.File("timeline.pb")},
        hear, request_.stop);
    life.ended = Now();
    place_.CleanUp();
    if (end.launch.was_stopped || (request_.stop != nullptr && *request_.stop)) return std::nullopt;
    life.log = RunLog(training.log).Read();
    if (DeathIn(life) == nullptr) RequireSuccess(end);
    return life;
  }

  void NoteKills(const LogEntry& death, int64_t first) {
    while (!kills_.empty() && kills_.front().step <= death.step) {
      const RankKill kill = kills_.front();
      kills_.erase(kills_.begin());
      result_.kills.push_back(kill);
      if (request_.quiet) continue;
      err_ << fmt::format(
                  "rank {} was killed after step {}: all processes start again from step {}\n",
                  kill.rank, kill.step, first)
           << std::flush;
    }
  }

  std::optional<MeasuredRun> Stopped() {
    if (request_.quiet || request_.measured_run->folder.empty()) return std::nullopt;
    err_ << fmt::format("stopped; the same command goes on from the last checkpoint in {}\n",
                        place_.path());
    return std::nullopt;
  }

  const RunRequest& request_;
  const std::vector<Bytes>& states_;
  std::ostream& err_;
  const int ranks_;
  const std::string schedule_;
  const uint64_t run_;
  const ScratchFolder folder_;
  CheckpointPlace place_;
  std::vector<RankKill> kills_;  // that still have to happen
  int starts_ = 0;
  MeasuredRun result_;
};

}  // namespace

std::optional<MeasuredRun> MeasureRun(const Schedule& schedule, const std::vector<Bytes>& states,
                                      const RunRequest& request, std::ostream& err) {
  RequireMemory(Sum(states));
  return RunMeasurement(schedule, states, request, err).Run();
}

}  // namespace stagecraft
