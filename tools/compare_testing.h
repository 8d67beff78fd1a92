// CompareTimelinesTest: for tests of compare, the timeline of a small plan, and a measured one that
// differs from it in a known way.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "costmodel/units.h"
#include "proto/timeline.pb.h"
#include "sim/engine/engine.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/schedule/timeline.h"
#include "tools/verb/command.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {

inline const Args kJob = {
    "--model", "megatron:4x256x4", "--cluster", "h100-sxm:1x4", "--seq", "256", "--pp",
    "2",       "--global-batch",   "16",        "--quiet"};

class CompareTimelinesTest : public VerbTest {
 protected:
  void SetUp() override {
    VerbTest::SetUp();
    simulated_ = nlohmann::json::parse(Simulate("predicted.pb", {"--json"}));
    ReadProtoFile(Path("predicted.pb"), &proto_);
  }

  std::string Simulate(const std::string& name, const Args& flags) {
    Args args = kJob;
    args.insert(args.end(), {"--timeline", Path(name)});
    args.insert(args.end(), flags.begin(), flags.end());
    return Output(RunSimulate, args);
  }

  std::string ErrorOf(const Args& args) { return VerbTest::ErrorOf(RunCompare, args); }

  // Writes measured.pb: the schedule with durations multiplied by the factor of their phase, as if
  // an executor had measured three steps.
  void WriteMeasured(const std::function<double(Phase)>& factor,
                     const TimelineProto::Measurement& more = {}) {
    const Schedule schedule = ScheduleFromProto(proto_.schedule());
    std::vector<Duration> durations;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      const double seconds =
          1e-9 * static_cast<double>(proto_.end_ns(task) - proto_.start_ns(task));
      durations.push_back(Duration::Seconds(seconds * factor(schedule.tag(task).phase)));
    }
    const Timeline timeline = Engine().Run(schedule, durations);
    measured_step_ = timeline.makespan();
    TimelineProto proto = ToProto(timeline, schedule);
    TimelineProto::Measurement* measurement = proto.mutable_measurement();
    measurement->set_executor("host");
    measurement->set_software("test 1.0");
    for (const int64_t more_us : {-10, 0, 10}) {
      measurement->add_step_ns(measured_step_.ns() + 1000 * more_us);
    }
    for (const Duration duration : durations) measurement->add_task_sigma_ns(duration.ns() / 10);
    measurement->MergeFrom(more);
    for (const int64_t bytes : proto_.peak_memory_bytes()) proto.add_peak_memory_bytes(2 * bytes);
    Write("measured.pb", proto.SerializeAsString());
  }

  nlohmann::json Compare(const Args& flags = {}) {
    Args args = {Path("predicted.pb"), Path("measured.pb"), "--quiet"};
    args.insert(args.end(), flags.begin(), flags.end());
    return Json(RunCompare, args);
  }

  static nlohmann::json RowOf(const nlohmann::json& rows, const char* key,
                              const std::string& name) {
    for (const nlohmann::json& row : rows) {
      if (row[key] == name) return row;
    }
    ADD_FAILURE() << name << " is not in " << rows.dump();
    return {};
  }

  nlohmann::json simulated_;
  TimelineProto proto_;
  Duration measured_step_;
};

}  // namespace stagecraft
