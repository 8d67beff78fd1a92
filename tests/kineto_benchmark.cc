// Measures how long a large trace of PyTorch's profiler takes to become a measured timeline, and
// how much memory. The trace is of our own making (tools/recorded/kineto_testing.h), of 200 MB
// unless the environment's KINETO_MB says otherwise, and stays in the folder of temporary files
// while the benchmark runs.
//
// "bytes_per_second" counts the text of the trace; "peak_mb" is the most memory that the process
// ever had.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/recorded/kineto_testing.h"
#include "tools/recorded/trace_import.h"

namespace stagecraft {
namespace {

// A step of 80 layers is 0.224 MB of text.
constexpr int kLayers = 80;
constexpr double kStepMegabytes = 0.224;

class TraceFile {
 public:
  TraceFile() {
    const char* const wanted = std::getenv("KINETO_MB");
    const int64_t megabytes = wanted == nullptr ? 200 : std::strtoll(wanted, nullptr, 10);
    std::ofstream file(path_, std::ios::binary);
    const int steps = static_cast<int>(static_cast<double>(megabytes) / kStepMegabytes);
    KinetoTrace({.steps = steps, .layers = kLayers}, file).Write();
  }
  ~TraceFile() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }

 private:
  const std::string path_ = std::filesystem::temp_directory_path() /
                            ("kineto_benchmark." + std::to_string(getpid()) + ".json");
};

void ImportLargeTrace(benchmark::State& state) {
  const TraceFile trace;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(trace.path()));
  int64_t kernels = 0;
  for (auto _ : state) {
    const ImportedTrace imported =
        ImportTraces({.files = {trace.path()}, .gpu = {}, .cluster = {}});
    kernels = imported.timeline.all_kernels;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.SetBytesProcessed(bytes * static_cast<int64_t>(state.iterations()));
  state.counters["kernels"] = static_cast<double>(kernels);
  state.counters["mb"] = static_cast<double>(bytes) * 1e-6;
  state.counters["peak_mb"] = static_cast<double>(usage.ru_maxrss) * 1024e-6;
}
BENCHMARK(ImportLargeTrace)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace stagecraft
