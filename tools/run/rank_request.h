// RankRequest: what the processes of `run --executor host` do with a schedule.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "proto/rank_request.pb.h"
#include "runtime/host_training.h"
#include "runtime/measured_steps.h"

namespace stagecraft {

struct RankRequest {
  std::vector<double> speeds = {};  // by rank, in (0, 1]; empty: all at full speed
  StepCounts counts = {};           // without `training`
  std::optional<HostTraining> training = {};
  std::vector<Bytes> states = {};  // by rank, with `training`: what a rank must not lose
};

RankRequestProto ToProto(const RankRequest& request);
// Precondition: ToProto() made it.
RankRequest RankRequestFromProto(const RankRequestProto& proto);

}  // namespace stagecraft
