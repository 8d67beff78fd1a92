#include "tools/run/rank_request.h"

#include <cstdint>

namespace stagecraft {
namespace {

void SetCount(const StepCount& count, RankRequestProto::StepCount* proto) {
  proto->set_least(count.least);
  proto->set_time_ns(count.time.ns());
}

StepCount CountFromProto(const RankRequestProto::StepCount& proto) {
  return {proto.least(), Duration::Nanoseconds(proto.time_ns())};
}

void SetTraining(const HostTraining& training, RankRequestProto::Training* proto) {
  proto->set_run(training.run);
  proto->set_first_step(training.first);
  proto->set_steps(training.steps);
  proto->set_checkpoint_every(training.checkpoint_every);
  proto->set_folder(training.folder);
  for (const RankKill& kill : training.kills) {
    RankRequestProto::Kill* added = proto->add_kills();
    added->set_rank(kill.rank);
    added->set_step(kill.step);
  }
  proto->set_log(training.log);
  proto->set_is_rehearsal(training.is_rehearsal);
  proto->set_trial_writes(training.trial_writes);
  proto->set_trial_folder(training.trial_folder);
}

HostTraining TrainingFromProto(const RankRequestProto::Training& proto) {
  HostTraining training;
  training.run = proto.run();
  training.first = proto.first_step();
  training.steps = proto.steps();
  training.checkpoint_every = proto.checkpoint_every();
  training.folder = proto.folder();
  for (const RankRequestProto::Kill& kill : proto.kills()) {
    training.kills.push_back({kill.rank(), kill.step()});
  }
  training.log = proto.log();
  training.is_rehearsal = proto.is_rehearsal();
  training.trial_writes = proto.trial_writes();
  training.trial_folder = proto.trial_folder();
  return training;
}

}  // namespace

RankRequestProto ToProto(const RankRequest& request) {
  RankRequestProto proto;
  for (const double speed : request.speeds) proto.add_speeds(speed);
  SetCount(request.counts.warm_up, proto.mutable_warm_up());
  SetCount(request.counts.measured, proto.mutable_measured());
  if (request.training) SetTraining(*request.training, proto.mutable_training());
  for (const Bytes bytes : request.states) proto.add_state_bytes(bytes.count());
  return proto;
}

RankRequest RankRequestFromProto(const RankRequestProto& proto) {
  RankRequest request;
  request.speeds.assign(proto.speeds().begin(), proto.speeds().end());
  request.counts = {CountFromProto(proto.warm_up()), CountFromProto(proto.measured())};
  if (proto.has_training()) request.training = TrainingFromProto(proto.training());
  for (const int64_t bytes : proto.state_bytes()) request.states.emplace_back(bytes);
  return request;
}

}  // namespace stagecraft
