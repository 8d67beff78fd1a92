// Reads pipeline schedules of PyTorch, and simulates a decoder with them.
#include "sim/cluster/cluster_spec.h"
#include "sim/pipeline/pytorch_csv.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload_catalogue.h"
#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

namespace stagecraft {
namespace {

void Run(PytorchSchedule schedule) {
  static const Workload workload = LoadWorkload("megatron:16x64x4", AttentionBackend::kFlash);
  static const Cluster cluster = ParseCluster("h100-sxm:1x8");
  if (schedule.map.stages() > cluster.device_count()) return;
  PlanDegrees degrees;
  degrees.pipeline = schedule.map.stages();
  degrees.devices = degrees.pipeline;
  degrees.chunks = schedule.map.chunks();
  degrees.placement = schedule.map.placement();
  degrees.schedule = PipelineSchedule::kCustom;
  degrees.orders = std::move(schedule.orders);
  degrees.global_batch = schedule.micro_batches;
  degrees.sequence = 64;
  fuzz::Simulate(MakePlan(degrees, workload, cluster), workload, cluster);
}

}  // namespace
}  // namespace stagecraft

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  if (fuzz::Accepts([&] { Run(ReadPytorchCsv(text, "schedule.csv")); })) fuzz::CountAccepted();
  return 0;
}
