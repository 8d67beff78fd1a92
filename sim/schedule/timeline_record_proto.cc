#include "sim/schedule/timeline_record_proto.h"

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "sim/schedule/deadlock.h"
#include "sim/schedule/schedule_proto.h"
#include "sim/schedule/task_devices.h"

namespace stagecraft {
namespace {

// KernelClass is numbered as its proto is: from 0, in the same order.
static_assert(static_cast<int>(KernelClass::kSparse) == TimelineProto::Kernels::SPARSE);
static_assert(static_cast<int>(KernelClass::kOptimizer) == TimelineProto::Kernels::OPTIMIZER);
static_assert(static_cast<int>(KernelClass::kSendRecv) == TimelineProto::Kernels::SEND_RECV);
static_assert(static_cast<int>(KernelClass::kEmpty) == TimelineProto::Kernels::EMPTY);
static_assert(kKernelClassCount == TimelineProto::Kernels::Class_ARRAYSIZE);

// Half of the range of a Duration, so that differences of sums fit as well.
constexpr double kMostDeviceNs = 4.6e18;
// The limit for any sensor: 100 GHz.
constexpr double kMostReading = 1e11;

class RecordReader {
 public:
  RecordReader(const TimelineProto& proto, std::string_view file)
      : proto_(proto), path_(fmt::format("{}: timeline", file)), file_(file) {}

  TimelineRecord Read() {
    record_.timeline = TimelineFromProto(proto_, path_);
    if (!proto_.has_schedule()) Fail("schedule: got none, want the one that was run");
    record_.schedule = ScheduleFromProto(proto_.schedule(), file_ + ": schedule");
    CheckCircles();
    CheckEnds();
    ReadMemory();
    ReadOpTimes();
    CheckOpTimes();
    if (proto_.has_measurement()) ReadMeasurement(proto_.measurement());
    ReadHostWait();
    if (proto_.has_kernels()) ReadKernels(proto_.kernels());
    return std::move(record_);
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const {
    throw InputError(fmt::format("{}.{}", path_, problem));
  }

  void CheckSize(const char* field, int size, int64_t wanted, const char* of) const {
    if (size == 0 || size == wanted) return;
    Fail(fmt::format("{}: got {} values, want {}, one for each {}, or none", field, size, wanted,
                     of));
  }

  int64_t AtLeast(int64_t least, const char* field, int index, int64_t value) const {
    if (value < least) {
      Fail(fmt::format("{}[{}]: got {}, want at least {}", field, index, value, least));
    }
    return value;
  }

  int ranks() const { return static_cast<int>(record_.schedule.ranks().size()); }

  void CheckCircles() const {
    try {
      CheckForDeadlock(record_.schedule);
    } catch (const DeadlockError& error) {
      throw InputError(file_ + ": tasks wait for each other in a circle: " + error.what());
    }
  }

  // `what` begins the sentence if a sum over all devices, in ns, is too large.
  void CheckSum(const std::string& what, double sum) const {
    if (sum < kMostDeviceNs) return;
    Fail(fmt::format("{} that add up to {} over all devices, want less than {}", what, sum,
                     kMostDeviceNs));
  }

  void CheckEnds() const {
    const std::vector<int64_t> devices = DevicesByTask(record_.schedule);
    double sum = 0;
    for (TaskId task = 0; task < record_.schedule.task_count(); ++task) {
      sum +=
          static_cast<double>(record_.timeline.end(task).ns()) * static_cast<double>(devices[task]);
    }
    CheckSum("end_ns: got ends", sum);
  }

  // Checks, for each kind of device, the sum as if every device were of that kind.
  void CheckOpTimes() const {
    const Schedule& schedule = record_.schedule;
    const std::vector<int64_t> devices = DevicesByTask(schedule);
    for (const std::vector<Duration>& by_op : record_.op_times.by_device) {
      double sum = 0;
      for (TaskId task = 0; task < schedule.task_count(); ++task) {
        if (schedule.op_sequence(task) < 0) continue;  // no ops
        for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
          sum += static_cast<double>(by_op[op].ns()) * static_cast<double>(devices[task]);
        }
      }
      CheckSum("op_times: got times of ops", sum);
    }
  }

  void ReadHostWait() {
    if (proto_.host_wait_ns() < 0) {
      Fail(fmt::format("host_wait_ns: got {}, want at least 0", proto_.host_wait_ns()));
    }
    record_.host_wait = Duration::Nanoseconds(proto_.host_wait_ns());
  }

  void ReadKernels(const TimelineProto::Kernels& proto) {
    KernelProfile& profile = record_.kernels.emplace();
    profile.names.assign(proto.names().begin(), proto.names().end());
    if (proto.world_size() < 0) {
      Fail(fmt::format("kernels.world_size: got {}, want at least 0", proto.world_size()));
    }
    profile.world_size = proto.world_size();
    const int tasks = record_.schedule.task_count();
    const std::pair<const char*, int> lists[] = {{"name", proto.name_size()},
                                                 {"class", proto.class__size()},
                                                 {"layer", proto.layer_size()},
                                                 {"has_phase", proto.has_phase_size()},
                                                 {"waits_ns", proto.waits_ns_size()}};
    for (const auto& [list, size] : lists) {
      if (size == tasks) continue;
      Fail(fmt::format("kernels.{}: got {} values, want {}, one for each task", list, size, tasks));
    }
    for (TaskId task = 0; task < tasks; ++task) profile.kernels.push_back(KernelOf(proto, task));
  }

  TracedKernel KernelOf(const TimelineProto::Kernels& proto, TaskId task) const {
    const auto in_range = [&](const char* field, int64_t value, int64_t least, int64_t most) {
      if (value >= least && value <= most) return value;
      Fail(fmt::format("kernels.{}[{}]: got {}, want {} to {}", field, task, value, least, most));
    };
    const Duration took = record_.timeline.end(task) - record_.timeline.start(task);
    TracedKernel kernel;
    kernel.name =
        static_cast<int32_t>(in_range("name", proto.name(task), 0, proto.names_size() - 1));
    kernel.kind = static_cast<KernelClass>(
        in_range("class", proto.class_(task), 0, TimelineProto::Kernels::Class_MAX));
    kernel.layer = static_cast<int32_t>(in_range("layer", proto.layer(task), -1, INT32_MAX));
    kernel.has_phase = proto.has_phase(task);
    kernel.waits = Duration::Nanoseconds(in_range("waits_ns", proto.waits_ns(task), 0, took.ns()));
    return kernel;
  }

  void ReadMemory() {
    CheckSize("peak_memory_bytes", proto_.peak_memory_bytes_size(), ranks(), "rank");
    for (int rank = 0; rank < proto_.peak_memory_bytes_size(); ++rank) {
      record_.peak_memory.emplace_back(
          AtLeast(0, "peak_memory_bytes", rank, proto_.peak_memory_bytes(rank)));
    }
  }

  void ReadOpTimes() {
    const int kinds = proto_.op_times_size();
    for (int kind = 0; kind < kinds; ++kind) ReadOpTimesOf(kind);
    if (kinds == 0 && proto_.op_times_of_rank_size() > 0) {
      Fail("op_times_of_rank: got values, want none without op_times");
    }
    CheckSize("op_times_of_rank", proto_.op_times_of_rank_size(), ranks(), "rank");
    if (kinds > 0) record_.op_times.device_of_rank.assign(ranks(), 0);
    for (int rank = 0; rank < proto_.op_times_of_rank_size(); ++rank) {
      const int kind = proto_.op_times_of_rank(rank);
      if (kind < 0 || kind >= kinds) {
        Fail(fmt::format("op_times_of_rank[{}]: got {}, want 0 to {}", rank, kind, kinds - 1));
      }
      record_.op_times.device_of_rank[rank] = kind;
    }
  }

  void ReadOpTimesOf(int kind) {
    const auto& times = proto_.op_times(kind).op_ns();
    const int64_t ops = std::ssize(record_.schedule.distinct_ops());
    const std::string field = fmt::format("op_times[{}].op_ns", kind);
    if (times.size() != ops) {
      Fail(fmt::format("{}: got {} values, want {}, one for each op", field, times.size(), ops));
    }
    std::vector<Duration>& by_op = record_.op_times.by_device.emplace_back();
    for (int op = 0; op < times.size(); ++op) {
      by_op.push_back(Duration::Nanoseconds(AtLeast(0, field.c_str(), op, times[op])));
    }
  }

  void ReadMeasurement(const TimelineProto::Measurement& proto) {
    Measurement& measurement = record_.measurement.emplace();
    if (proto.executor().empty())
      Fail("measurement.executor: got \"\", want the executor that measured");
    measurement.executor = proto.executor();
    measurement.software = proto.software();
    CheckSize("measurement.devices", proto.devices_size(), ranks(), "rank");
    measurement.devices.assign(proto.devices().begin(), proto.devices().end());
    const int steps = proto.step_ns_size();
    double sum = 0;
    for (int step = 0; step < steps; ++step) {
      const int64_t time = AtLeast(1, "measurement.step_ns", step, proto.step_ns(step));
      measurement.steps.push_back(Duration::Nanoseconds(time));
      sum += static_cast<double>(time);
    }
    if (sum >= kMostDeviceNs) {
      Fail(fmt::format("measurement.step_ns: got steps that add up to {}, want less than {}", sum,
                       kMostDeviceNs));
    }
    const int sigmas = proto.task_sigma_ns_size();
    CheckSize("measurement.task_sigma_ns", sigmas, record_.schedule.task_count(), "task");
    if (sigmas > 0 && steps < 2) {
      Fail(fmt::format("measurement.step_ns: got {} values, want at least 2 for task_sigma_ns",
                       steps));
    }
    for (int task = 0; task < sigmas; ++task) {
      const int64_t sigma =
          AtLeast(0, "measurement.task_sigma_ns", task, proto.task_sigma_ns(task));
      if (sigma > kLongestTime.ns()) {
        Fail(fmt::format("measurement.task_sigma_ns[{}]: got {}, want at most {}", task, sigma,
                         kLongestTime.ns()));
      }
      measurement.task_sigma.push_back(Duration::Nanoseconds(sigma));
    }
    ReadCircumstances(proto, &measurement);
  }

  void ReadCircumstances(const TimelineProto::Measurement& proto, Measurement* measurement) const {
    CheckSize("measurement.boards", proto.boards_size(), ranks(), "rank");
    for (int rank = 0; rank < proto.boards_size(); ++rank) {
      const TimelineProto::GpuReadings& gpu = proto.boards(rank);
      for (const double reading : {gpu.clock_hz(), gpu.least_clock_hz(), gpu.watts(),
                                   gpu.most_watts(), gpu.most_celsius()}) {
        CheckReading(rank, reading, kMostReading);
      }
      CheckReading(rank, gpu.throttled(), 1);
      std::optional<double> throttled;
      if (gpu.has_throttled()) throttled = gpu.throttled();
      measurement->gpus.push_back({.clock_hz = gpu.clock_hz(),
                                   .least_clock_hz = gpu.least_clock_hz(),
                                   .watts = gpu.watts(),
                                   .most_watts = gpu.most_watts(),
                                   .most_celsius = gpu.most_celsius(),
                                   .throttled = throttled});
    }
    const int late = proto.queued_late_ns_size();
    CheckSize("measurement.queued_late_ns", late, proto.step_ns_size(), "step");
    for (int step = 0; step < late; ++step) {
      measurement->queued_late.push_back(Duration::Nanoseconds(
          AtLeast(0, "measurement.queued_late_ns", step, proto.queued_late_ns(step))));
    }
  }

  void CheckReading(int rank, double reading, double most) const {
    if (reading >= 0 && reading <= most) return;
    Fail(fmt::format("measurement.boards[{}]: got {}, want 0 to {:.0f}", rank, reading, most));
  }

  const TimelineProto& proto_;
  const std::string path_, file_;
  TimelineRecord record_;
};

void Write(const Measurement& measurement, TimelineProto::Measurement* proto) {
  proto->set_executor(measurement.executor);
  proto->set_software(measurement.software);
  for (const std::string& device : measurement.devices) proto->add_devices(device);
  for (const Duration step : measurement.steps) proto->add_step_ns(step.ns());
  for (const Duration sigma : measurement.task_sigma) proto->add_task_sigma_ns(sigma.ns());
  for (const GpuReadings& gpu : measurement.gpus) {
    TimelineProto::GpuReadings* added = proto->add_boards();
    added->set_clock_hz(gpu.clock_hz);
    added->set_least_clock_hz(gpu.least_clock_hz);
    added->set_watts(gpu.watts);
    added->set_most_watts(gpu.most_watts);
    added->set_most_celsius(gpu.most_celsius);
    if (gpu.throttled) added->set_throttled(*gpu.throttled);
  }
  for (const Duration late : measurement.queued_late) proto->add_queued_late_ns(late.ns());
}

void Write(const KernelProfile& profile, TimelineProto::Kernels* proto) {
  for (const std::string& name : profile.names) proto->add_names(name);
  proto->set_world_size(profile.world_size);
  for (const TracedKernel& kernel : profile.kernels) {
    proto->add_name(kernel.name);
    proto->add_class_(static_cast<TimelineProto::Kernels::Class>(kernel.kind));
    proto->add_layer(kernel.layer);
    proto->add_has_phase(kernel.has_phase);
    proto->add_waits_ns(kernel.waits.ns());
  }
}

}  // namespace

TimelineRecord TimelineRecordFromProto(const TimelineProto& proto, std::string_view file) {
  return RecordReader(proto, file).Read();
}

TimelineProto ToProto(const TimelineRecord& record) {
  TimelineProto proto = ToProto(record.timeline, record.schedule);
  for (const Bytes peak : record.peak_memory) proto.add_peak_memory_bytes(peak.count());
  for (const std::vector<Duration>& by_op : record.op_times.by_device) {
    TimelineProto::OpTimes* times = proto.add_op_times();
    for (const Duration time : by_op) times->add_op_ns(time.ns());
  }
  for (const int device : record.op_times.device_of_rank) proto.add_op_times_of_rank(device);
  if (record.measurement) Write(*record.measurement, proto.mutable_measurement());
  proto.set_host_wait_ns(record.host_wait.ns());
  if (record.kernels) Write(*record.kernels, proto.mutable_kernels());
  return proto;
}

}  // namespace stagecraft
