// Reads files of training runs, and checks what they hold against a network and a cluster.
#include "costmodel/proto_file.h"
#include "proto/job.pb.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/fuzz/fuzzing.h"
#include "tools/train/job_file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const Cluster cluster = ParseCluster("h100-sxm:2x8");
  static const Workload workload = LoadWorkload("megatron:8x64x4", AttentionBackend::kFlash);
  const std::string text = fuzz::Text(data, size);
  const auto read = [&](const std::string& extension, const std::string& name) {
    JobProto proto;
    ParseProtoText(text, name, extension, &proto);
    if (proto.has_plan_file() || proto.has_dynamics_file() || proto.has_events_file() ||
        !proto.dynamics().states().empty()) {
      return;  // They would name any file of this machine.
    }
    const JobFile job = JobFileFrom(proto, name);
    CHECK(job.proto.steps() >= 0);
    CHECK(job.plan.has_value() == proto.has_plan());
    CHECK(job.proto.recovery().spare_nodes() == 0 ||
          job.proto.recovery().policy() == RecoveryProto::SPARE);
    CheckJobFile(job, workload, cluster);
  };
  if (fuzz::AcceptsInSomeFormat(read)) fuzz::CountAccepted();
  return 0;
}
