// The StageProblem that a PartitionRequest poses.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/stages/stage_problem.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {

// Of devices, taken together.
inline constexpr int kMostStageDevices = 256;

// The outermost level's; that it stands for all levels is noted in `notes`.
// Throws InputError where none is given.
Bandwidth StageBandwidth(const PartitionRequest& request, std::vector<std::string>& notes);

// By kind. Throws InputError where none are given, and for more than
// kMostStageDevices.
std::vector<StageDeviceKind> MakeStageDevices(const PartitionRequest& request);

// Valid. Throws InputError for flags and graphs that make no problem.
StageProblem MakeStageProblem(const PartitionRequest& request, std::vector<std::string>& notes);

// "8 of speed 1 and 8 of speed 2".
std::string DescribeDevices(const std::vector<StageDeviceKind>& kinds);

}  // namespace stagecraft
