// Reads the output of nccl-tests, as logs and as JSON, for groups of a cluster.
#include "costmodel/network/nccl_tests_log.h"

#include "sim/cluster/cluster_spec.h"
#include "tests/fuzz/fuzzing.h"
#include "tools/network/network_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  static const Cluster cluster = ParseCluster("a100-sxm4-80gb:2x8");
  const std::string text = fuzz::Text(data, size);
  IsNcclTestsLog(text);
  const auto read = [&] {
    const NcclTestsLog log = ParseNcclTestsLog(text, "all_reduce_perf.log");
    CHECK(!log.ranks.empty() && !log.rows.empty());
    SamplesOfLog(log, cluster, "all_reduce_perf.log");
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
