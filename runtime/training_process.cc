#include "runtime/training_process.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "runtime/checkpoint_folder.h"
#include "runtime/run_log.h"

namespace stagecraft {
namespace {

using What = LogEntry::What;

constexpr size_t kKeptSteps = 100;

class TrainingProcess {
 public:
  TrainingProcess(const HostTraining& training, MpiWorld& world, TrainingState& state)
      : training_(training),
        world_(world),
        state_(state),
        folder_(training.folder, {training.run, world.size()}),
        log_(training.log) {}

  // Begins with what all processes have to do before the first step.
  void Start() {
    world_.Barrier();
    Note(What::kReady, training_.first);
    if (!training_.HasCheckpoints() || IsNew()) return;
    std::vector<int64_t> is_damaged(static_cast<size_t>(world_.size()));
    is_damaged[world_.rank()] = folder_.Read(training_.first, world_.rank(), state_) ? 0 : 1;
    world_.Max(is_damaged);
    const auto damaged = std::find(is_damaged.begin(), is_damaged.end(), 1);
    if (damaged != is_damaged.end()) {
      const int rank = static_cast<int>(damaged - is_damaged.begin());
      throw InputError(folder_.File(training_.first, rank).string() +
                       ": got a damaged file, want it as the run wrote it");
    }
    Note(What::kReloaded, training_.first);
  }

  void Rehearse() {
    const CheckpointFolder trial(training_.trial_folder, {training_.run, world_.size()});
    if (training_.HasCheckpoints()) {
      for (int i = 0; i < training_.trial_writes; ++i) Save(trial, i);
      if (IsNew()) Save(folder_, training_.first);
    }
    if (training_.kills.empty()) return;
    if (training_.kills[0].rank == world_.rank()) Die(training_.first);
    world_.Barrier();  // It lacks one, so this process waits until it is ended.
  }

  void EndStep(int64_t done) {
    Note(What::kStep, done);
    for (const RankKill& kill : training_.kills) {
      if (kill.step == done && kill.rank == world_.rank()) Die(done);
    }
    if (!training_.HasCheckpoints()) return;
    const bool is_due = (done - training_.first) % training_.checkpoint_every == 0;
    if (is_due || done == training_.steps) Save(folder_, done);
  }

  uint64_t FingerprintOfAll() {
    const uint64_t own = state_.Fingerprint();
    std::vector<int64_t> halves(2 * static_cast<size_t>(world_.size()));  // none is negative
    halves[2 * world_.rank()] = static_cast<int64_t>(own >> 32);
    halves[2 * world_.rank() + 1] = static_cast<int64_t>(own & 0xffffffff);
    world_.Max(halves);
    Hash hash;
    for (const int64_t half : halves) hash.Add(half);
    return hash.value();
  }

 private:
  // Whether no process of the run has ever written a checkpoint.
  bool IsNew() const { return training_.is_rehearsal && training_.first == 0; }

  void Append(What what, int64_t step) { log_.Append({what, world_.rank(), step, world_.Now()}); }
  void Note(What what, int64_t step) {
    if (world_.rank() == 0) Append(what, step);
  }

  void Save(const CheckpointFolder& folder, int64_t step) {
    Note(What::kSaving, step);
    folder.Write(step, world_.rank(), state_);
    world_.Barrier();
    if (world_.rank() == 0) folder.Complete(step);
    world_.Barrier();
    Note(What::kSaved, step);
  }

  [[noreturn]] void Die(int64_t step) {
    Append(What::kDying, step);
    kill(getpid(), SIGKILL);
    while (true) pause();
  }

  const HostTraining& training_;
  MpiWorld& world_;
  TrainingState& state_;
  const CheckpointFolder folder_;
  const RunLog log_;
};

}  // namespace

TrainedSteps TrainOnHost(const HostTraining& training, const Schedule& schedule, MpiWorld& world,
                         Executor& executor, TrainingState& state,
                         const std::function<void(int64_t done)>& progress) {
  TrainingProcess process(training, world, state);
  process.Start();
  TrainedSteps trained;
  if (training.is_rehearsal) {
    process.Rehearse();
    return trained;
  }
  std::vector<Timeline> timelines;
  for (int64_t done = training.first; done < training.steps;) {
    if (timelines.size() == kKeptSteps) timelines.erase(timelines.begin());
    timelines.push_back(executor.Execute(schedule));
    process.EndStep(++done);
    progress(done);
  }
  trained.fingerprint = process.FingerprintOfAll();
  trained.measured = SumUp(schedule, std::move(timelines));
  return trained;
}

}  // namespace stagecraft
