// Reads Piper's JSON, and solves small problems.
#include "search/partition/piper_problem.h"

#include "search/partition/downsets.h"
#include "search/partition/partition_check.h"
#include "search/partition/piper.h"
#include "tests/fuzz/fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stagecraft;
  constexpr int kMost = 16;  // devices, operators or micro-batches of a solved problem
  const std::string text = fuzz::Text(data, size);
  const auto read = [&] {
    const PiperProblem problem = ParsePiperProblem(text, "piper.json");
    const bool is_small = problem.devices >= 1 && problem.devices <= kMost &&
                          problem.micro_batches >= 1 && problem.micro_batches <= kMost &&
                          problem.dag.size() <= kMost && problem.bandwidth_bytes_per_s > 0;
    if (!is_small) return;
    PiperOptions options;
    options.devices = problem.devices;
    options.memory_bytes = problem.memory_bytes;
    options.bandwidth_bytes_per_s = problem.bandwidth_bytes_per_s;
    options.micro_batches = problem.micro_batches;
    const auto partition = SolvePiper(problem, options);
    if (partition) CHECK(CheckPiper(problem, options, *partition).errors.empty());
  };
  if (fuzz::Accepts(read)) fuzz::CountAccepted();
  return 0;
}
