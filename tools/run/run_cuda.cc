#include "tools/run/run_cuda.h"

#include <fmt/core.h>

#include <cstdlib>
#include <iterator>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/local_gpus.h"
#include "runtime/process_rank.h"
#include "tools/import/gpu_name.h"
#include "tools/run/cuda_places.h"
#include "tools/run/own_ranks.h"
#include "tools/run/plan_memory.h"
#include "tools/run/step_lines.h"

namespace stagecraft {
namespace {

constexpr const char* kPlace = "--executor";

// Throws InputError if the cluster's device of a rank is not of the same type as the GPU at its
// place.
void CheckKnownGpu(const PlannedJob& job, const RankInfo& rank, const CudaPlace& place,
                   std::span<const LocalGpu> gpus) {
  const auto number = static_cast<size_t>(place.gpu);
  if (number >= gpus.size()) return;  // RunOnCuda() refuses it
  const bool is_whole = place.multiprocessors == 0;
  RequireGpu("--cluster", job.cluster.device(rank.device), gpus[number].name,
             is_whole ? gpus[number].multiprocessors : 0);
}

TimelineRecord RunHere(const PlannedJob& job, const Schedule& schedule, const CudaPlaces& places,
                       const ProcessRank& process, const RunRequest& request, std::ostream& err) {
  CudaRunRequest run{.schedule = &schedule,
                     .places = PlacesHere(places, process, CountLocalGpus(kPlace)),
                     .process = process,
                     .steps = request.steps,
                     .memory = PlanMemory(job.plan, job.workload, job.cluster, schedule)};
  if (places.shares_gpus) {  // on GPUs of any type
    for (const auto& [name, value] : SharingVariables(process.rank)) {
      setenv(name.c_str(), value.c_str(), 1);
    }
  } else {
    const std::vector<LocalGpu> gpus = FindLocalGpus(kPlace);
    for (int rank = 0; rank < std::ssize(run.places); ++rank) {
      const bool is_here = process.size == 1 || rank == process.rank;
      if (is_here) CheckKnownGpu(job, schedule.ranks()[rank], run.places[rank], gpus);
    }
  }
  StepLines lines(err, request.quiet || process.rank > 0);
  run.progress = [&](int done) { lines.Show(fmt::format("step {}", done)); };
  CudaRunResult result = RunOnCuda(run);
  return {.schedule = schedule,
          .timeline = std::move(result.measured.timeline),
          .peak_memory = std::move(result.peak_memory),
          .op_times = {},
          .measurement = Measurement{.executor = "cuda",
                                     .software = std::move(result.software),
                                     .devices = std::move(result.devices),
                                     .steps = std::move(result.measured.steps),
                                     .task_sigma = std::move(result.measured.task_sigma),
                                     .gpus = std::move(result.gpus),
                                     .queued_late = std::move(result.measured.queued_late)},
          .host_wait = {},
          .kernels = {}};
}

// Throws InputError if this host alone cannot run all ranks.
void CheckThisHost(const PlannedJob& job, const Schedule& schedule, const CudaPlaces& places) {
  if (places.hosts > 1) {
    throw InputError(fmt::format(
        "--cluster: got {} hosts, want mpirun, srun or torchrun to start a process there for each "
        "rank, or one host",
        places.hosts));
  }
  const std::vector<LocalGpu> gpus = FindLocalGpus(kPlace);
  if (places.shares_gpus) return;
  if (places.most_gpus > std::ssize(gpus)) {
    throw InputError(
        fmt::format("--cluster: got {} GPUs, want at most the {} of this machine, or --share-gpu",
                    places.most_gpus, gpus.size()));
  }
  for (size_t rank = 0; rank < places.places.size(); ++rank) {
    CheckKnownGpu(job, schedule.ranks()[rank], places.places[rank], gpus);
  }
}

}  // namespace

std::optional<TimelineRecord> RunOnGpus(const PlannedJob& job, const Schedule& schedule,
                                        const RunRequest& request, const Args& args,
                                        std::ostream& out, std::ostream& err) {
  const CudaPlaces places = PlaceRanks(schedule.ranks(), job.cluster, request.share_gpu);
  const std::optional<ProcessRank> started = FindProcessRank();
  if (started) CheckProcess(places, *started);
  if (!started && places.processes > 1) {
    CheckThisHost(job, schedule, places);
    std::vector<std::string> command = {OwnProgram(), "run"};
    command.insert(command.end(), args.begin(), args.end());
    RunOwnRanks(places.processes, command, out, err);
    return std::nullopt;
  }
  const ProcessRank process = started.value_or(ProcessRank());
  TimelineRecord record = RunHere(job, schedule, places, process, request, err);
  if (process.rank > 0) return std::nullopt;
  return record;
}

}  // namespace stagecraft
