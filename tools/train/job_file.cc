#include "tools/train/job_file.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <type_traits>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/units.h"
#include "sim/dynamics/dynamics_proto.h"
#include "sim/job/drawn_events.h"
#include "sim/job/job_events_proto.h"
#include "sim/plan/plan_proto.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostSteps = 1'000'000'000'000;
constexpr double kMostSeconds = 1e6;  // of what a recovery waits for
constexpr double kMostNoise = 10;
constexpr double kMostStorageBytesPerS = 1e15;
constexpr int kMostSpares = 1'000'000;

// Checks the keys of a job.
class Checker {
 public:
  explicit Checker(const std::string& path) : path_(path) {}

  template <typename Value>
  void Want(bool is_right, const char* key, const Value& got, const char* want) const {
    if (is_right) return;
    throw InputError(fmt::format("{}: {}: got {}, want {}", path_, key, got, want));
  }
  void WantShare(const char* key, double share) const {
    Want(share >= 0 && share < 1, key, share, "from 0 to below 1");
  }

  void Check(const JobProto& job) const {
    Want(job.steps() >= 0 && job.steps() <= kMostSteps, "steps", job.steps(), "from 1 to 1e12");
    if (job.has_balance()) Check(job.balance());
    if (job.has_checkpoint()) Check(job.checkpoint());
    if (job.has_recovery()) Check(job.recovery());
  }

 private:
  void Check(const BalancePolicyProto& balance) const {
    Want(BalancePolicyProto::Balancer_IsValid(balance.balancer()), "balance.balancer",
         static_cast<int>(balance.balancer()), "NONE, PARTITION or DIFFUSION");
    Want(BalancePolicyProto::LoadBasis_IsValid(balance.by()), "balance.by",
         static_cast<int>(balance.by()), "PARAMETERS, MEASURED_TIME or TRUE_TIME");
    Want(balance.noise() >= 0 && balance.noise() <= kMostNoise, "balance.noise", balance.noise(),
         "from 0 to 10");
    WantShare("balance.profiling_share", balance.profiling_share());
    WantShare("balance.repack_loss", balance.repack_loss());
    Want(balance.repacks() || !balance.has_repack_loss(), "balance.repack_loss",
         balance.repack_loss(), "it with `repacks` only");
  }

  void Check(const CheckpointPolicyProto& checkpoint) const {
    const double interval = checkpoint.interval_s();
    Want(interval >= 0 && interval <= kLongestTime.seconds(), "checkpoint.interval_s", interval,
         "seconds from 0 to those of 100 years");
    const double storage = checkpoint.storage_bytes_per_s();
    Want(storage > 0 && storage <= kMostStorageBytesPerS, "checkpoint.storage_bytes_per_s", storage,
         "above 0, at most 1e15");
    WantShare("checkpoint.slowdown", checkpoint.slowdown());
    Want(checkpoint.is_asynchronous() || checkpoint.slowdown() == 0, "checkpoint.slowdown",
         checkpoint.slowdown(), "it with `is_asynchronous` only");
  }

  void Check(const RecoveryProto& recovery) const {
    Want(RecoveryProto::Policy_IsValid(recovery.policy()), "recovery.policy",
         static_cast<int>(recovery.policy()), "RESTART, SPARE, SHRINK or REPLAN");
    const int spares = recovery.spare_nodes();
    if (recovery.policy() == RecoveryProto::SPARE) {
      Want(spares >= 1 && spares <= kMostSpares, "recovery.spare_nodes", spares,
           "from 1 to 1000000 with SPARE");
    } else {
      Want(spares == 0, "recovery.spare_nodes", spares, "them with SPARE only");
    }
    for (const auto& [key, seconds] : {std::pair("recovery.detection_s", recovery.detection_s()),
                                       {"recovery.restart_s", recovery.restart_s()},
                                       {"recovery.swap_s", recovery.swap_s()}}) {
      Want(seconds >= 0 && seconds <= kMostSeconds, key, seconds, "seconds from 0 to 1e6");
    }
  }

  const std::string& path_;
};

// Returns `name` as a path relative to this process, if there is such a file in the folder, and
// otherwise as it is.
std::string FileOr(const std::string& name, const std::string& folder) {
  if (name.empty()) return name;
  const std::string path = (fs::path(folder) / name).string();
  std::error_code error;
  return fs::exists(path, error) ? path : name;
}

}  // namespace

JobFile JobFileFrom(const JobProto& proto, const std::string& path) {
  Checker(path).Check(proto);
  const std::string folder = fs::path(path).parent_path().string();
  JobFile job{.path = path,
              .model = FileOr(proto.model(), folder),
              .cluster = FileOr(proto.cluster(), folder),
              .plan = {},
              .dynamics = {},
              .events = {},
              .proto = proto,
              .files = {path}};
  const auto set = [&](auto& part, bool is_inside, const auto& inside, const char* key,
                       const std::string& file) {
    using Part = typename std::decay_t<decltype(part)>::value_type;
    if (is_inside) {
      part = Part{inside, path + ": " + key, folder};
    } else if (!file.empty()) {
      job.files.push_back((fs::path(folder) / file).string());
      part = ReadPart<decltype(Part::proto)>(job.files.back());
    }
  };
  set(job.plan, proto.has_plan(), proto.plan(), "plan", proto.plan_file());
  set(job.dynamics, proto.has_dynamics(), proto.dynamics(), "dynamics", proto.dynamics_file());
  set(job.events, proto.has_events(), proto.events(), "events", proto.events_file());
  return job;
}

JobFile ReadJobFile(const std::string& path) {
  JobProto proto;
  ReadProtoFile(path, &proto);
  return JobFileFrom(proto, path);
}

void CheckJobFile(const JobFile& job, const Workload& workload, const Cluster& cluster) {
  if (job.plan) PlanFromProto(job.plan->proto, workload, cluster, job.plan->name);
  std::vector<std::string> files;
  if (job.dynamics) ReadDynamics(*job.dynamics, workload, files);
  if (job.events) JobEventsFromProto(job.events->proto, cluster, job.events->name);
}

Dynamics ReadDynamics(const FilePart<DynamicsProto>& part, const Workload& workload,
                      std::vector<std::string>& files) {
  Dynamics dynamics = DynamicsFromProto(part.proto, workload, part.name);
  if (!part.proto.states().empty()) {
    files.push_back((fs::path(part.folder) / part.proto.states()).string());
    dynamics.measured = MeasuredChanges(ReadFile(files.back()), files.back(), workload);
  }
  return dynamics;
}

}  // namespace stagecraft
