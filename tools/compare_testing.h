// For tests of compare: a small plan, its timeline, and one in which it is known what
// differs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/units.h"
#include "proto/timeline.pb.h"
#include "sim/engine.h"
#include "sim/schedule.h"
#include "sim/schedule_proto.h"
#include "sim/timeline.h"
#include "tools/command.h"

namespace stagecraft {

inline const Args kJob = {
    "--model", "megatron:4x256x4", "--cluster", "h100-sxm:1x4", "--seq", "256", "--pp",
    "2",       "--global-batch",   "16",        "--quiet"};

class CompareTimelinesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    simulated_ = nlohmann::json::parse(Simulate("predicted.pb", {"--json"}));
    ReadProtoFile(Path("predicted.pb"), &proto_);
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  std::string Simulate(const std::string& name, const Args& flags) {
    Args args = kJob;
    args.insert(args.end(), {"--timeline", Path(name)});
    args.insert(args.end(), flags.begin(), flags.end());
    return Run(RunSimulate, args);
  }

  static std::string Run(CommandFunction verb, const Args& args) {
    std::istringstream in;
    std::ostringstream out, err;
    EXPECT_EQ(verb(args, in, out, err), kExitOk) << err.str();
    return out.str();
  }

  std::string ErrorOf(const Args& args) {
    std::istringstream in;
    std::ostringstream out, err;
    try {
      RunCompare(args, in, out, err);
    } catch (const InputError& error) {
      EXPECT_EQ(out.str(), "");
      return error.what();
    }
    return "no error";
  }

  void Write(const std::string& name, const TimelineProto& proto) const {
    std::ofstream(Path(name), std::ios::binary) << proto.SerializeAsString();
  }

  // The schedule with other durations, as three steps of an executor.
  void WriteMeasured(const std::function<double(Phase)>& factor) {
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
    for (const int64_t bytes : proto_.peak_memory_bytes()) proto.add_peak_memory_bytes(2 * bytes);
    Write("measured.pb", proto);
  }

  nlohmann::json Compare(const Args& flags = {}) {
    Args args = {Path("predicted.pb"), Path("measured.pb"), "--json", "--quiet"};
    args.insert(args.end(), flags.begin(), flags.end());
    return nlohmann::json::parse(Run(RunCompare, args));
  }

  static nlohmann::json RowOf(const nlohmann::json& rows, const char* key,
                              const std::string& name) {
    for (const nlohmann::json& row : rows) {
      if (row[key] == name) return row;
    }
    ADD_FAILURE() << name << " is not in " << rows.dump();
    return {};
  }

  std::filesystem::path folder_;
  nlohmann::json simulated_;
  TimelineProto proto_;
  Duration measured_step_;
};

}  // namespace stagecraft
