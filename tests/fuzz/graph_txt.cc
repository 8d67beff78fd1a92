// Reads files graph.txt of PipeDream's profiler, and simulates steps of the workloads that they
// describe.
#include "sim/workload/readers/graph_txt.h"

#include "tests/fuzz/fuzzing.h"
#include "tests/fuzz/simulated_steps.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const ProfiledGraph graph = ParseProfiledGraph(text, "graph.txt");
    for (const ProfiledEdge& edge : graph.edges) CHECK(edge.from < edge.to);
    fuzz::SimulateWorkload(ToWorkload(graph, "input"));
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
