#include "tools/run/run_cuda.h"

#include <fmt/core.h>

#include <cstdlib>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/local_boards.h"
#include "runtime/process_rank.h"
#include "tools/import/board_name.h"
#include "tools/run/cuda_places.h"
#include "tools/run/own_ranks.h"
#include "tools/run/plan_memory.h"
#include "tools/run/step_lines.h"

namespace stagecraft {
namespace {

constexpr const char* kPlace = "--executor";
constexpr int kAnyRank = -1;

// Throws InputError where the device of a rank is not of the board that is there: of rank `only`,
// or of every rank where that is kAnyRank. Ranks that share boards run on whatever board there is.
void CheckBoards(const PlannedJob& job, const Schedule& schedule, const CudaPlaces& places,
                 std::span<const CudaPlace> here, int only) {
  if (places.shares_boards) return;
  const std::vector<LocalBoard> boards = FindLocalBoards(kPlace);
  for (size_t rank = 0; rank < here.size(); ++rank) {
    if (only != kAnyRank && only != static_cast<int>(rank)) continue;
    const auto number = static_cast<size_t>(here[rank].board);
    if (number >= boards.size()) continue;  // which RunOnCuda refuses
    const bool is_whole = here[rank].multiprocessors == 0;
    RequireBoard("--cluster", job.cluster.device(schedule.ranks()[rank].device),
                 boards[number].name, is_whole ? boards[number].multiprocessors : 0);
  }
}

TimelineRecord RunHere(const PlannedJob& job, const Schedule& schedule, const CudaPlaces& places,
                       const ProcessRank& process, const RunRequest& request, std::ostream& err) {
  CudaRunRequest run{.schedule = &schedule,
                     .places = PlacesHere(places, process, CountLocalBoards(kPlace)),
                     .process = process,
                     .steps = request.steps,
                     .memory = PlanMemory(job.plan, job.workload, job.cluster, schedule)};
  CheckBoards(job, schedule, places, run.places, process.size == 1 ? kAnyRank : process.rank);
  if (places.shares_boards) {
    for (const auto& [name, value] : SharingVariables(process.rank)) {
      setenv(name.c_str(), value.c_str(), 1);
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
                                     .boards = std::move(result.boards),
                                     .queued_late = std::move(result.measured.queued_late)},
          .host_wait = {}};
}

void CheckThisHost(const CudaPlaces& places) {
  if (places.hosts > 1) {
    throw InputError(fmt::format(
        "--cluster: got {} hosts, want mpirun, srun or torchrun to start a process there for each "
        "rank, or one host",
        places.hosts));
  }
  const int boards = CountLocalBoards(kPlace);
  if (places.most_boards > boards && !places.shares_boards) {
    throw InputError(
        fmt::format("--cluster: got {} boards, want at most the {} of this machine, or --share-gpu",
                    places.most_boards, boards));
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
    CheckThisHost(places);
    CheckBoards(job, schedule, places, places.places, kAnyRank);
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
