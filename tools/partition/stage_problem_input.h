// The StageProblem that a PartitionRequest poses.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/stages/stage_problem.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {

// The most devices of a problem, of all types together.
inline constexpr int kMostStageDevices = 256;

// Returns the bandwidth of the outermost level; if others differ, a note says that it stands for
// all levels. Throws InputError if none is given.
Bandwidth StageBandwidth(const PartitionRequest& request, std::vector<std::string>& notes);

// Returns the devices by type. Throws InputError if none are given, or more than kMostStageDevices.
std::vector<StageDeviceKind> MakeStageDevices(const PartitionRequest& request);

// Returns a problem without FindErrors(). Throws InputError if flags and graph do not make one.
StageProblem MakeStageProblem(const PartitionRequest& request, std::vector<std::string>& notes);

// "8 devices of speed 1 and 8 devices of speed 2".
std::string DescribeDevices(const std::vector<StageDeviceKind>& kinds);

}  // namespace stagecraft
