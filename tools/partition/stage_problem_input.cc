#include "tools/partition/stage_problem_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "costmodel/check.h"
#include "tools/partition/read_graph.h"

namespace stagecraft {

std::vector<StageDeviceKind> MakeStageDevices(const PartitionRequest& request) {
  if (!request.device_kinds.empty()) return request.device_kinds;
  if (request.machines.empty() && !request.devices) {
    throw InputError(
        "--device-speeds: got nothing, want the number of devices of each speed, such as 8x1,8x2, "
        "or --machines or --devices");
  }
  int64_t count = request.devices.value_or(1);
  if (!request.devices) {
    for (const int machines : request.machines) {
      count = std::min<int64_t>(count * machines, kMostStageDevices + 1);
    }
  }
  if (count > kMostStageDevices) {
    throw InputError(fmt::format("{}: got more devices than {}, want at most that many",
                                 request.devices ? "--devices" : "--machines", kMostStageDevices));
  }
  StageDeviceKind kind{.count = static_cast<int>(count)};
  if (request.memory_bytes) kind.memory = Bytes(std::llround(*request.memory_bytes));
  return {kind};
}

Bandwidth StageBandwidth(const PartitionRequest& request, std::vector<std::string>& notes) {
  const std::vector<double>& levels = request.bandwidth_bytes_per_s;
  if (levels.empty()) {
    throw InputError("--bandwidth: got nothing, want bytes/s between any two devices");
  }
  if (std::any_of(levels.begin(), levels.end(), [&](double b) { return b != levels.back(); })) {
    notes.push_back(fmt::format(
        "every device talks to every other at the outermost level's {:g} bytes/s", levels.back()));
  }
  return Bandwidth(levels.back());
}

StageProblem MakeStageProblem(const PartitionRequest& request, std::vector<std::string>& notes) {
  const Bandwidth bandwidth = StageBandwidth(request, notes);
  StageProblem problem{{}, MakeStageDevices(request), bandwidth};
  problem.graph = ReadTimedGraph(request.graph, bandwidth, notes);
  const std::vector<std::string> errors = FindErrors(problem);
  if (!errors.empty()) throw InputError(errors[0]);
  return problem;
}

std::string DescribeDevices(const std::vector<StageDeviceKind>& kinds) {
  std::string text;
  for (const StageDeviceKind& kind : kinds) {
    text += fmt::format("{}{} device{} of speed {:g}", text.empty() ? "" : " and ", kind.count,
                        kind.count == 1 ? "" : "s", kind.speed);
    if (!kind.memory) continue;
    text += fmt::format(", {:.4g} GB", static_cast<double>(kind.memory->count()) / 1e9);
  }
  return text;
}

}  // namespace stagecraft
