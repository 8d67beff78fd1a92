// Kineto traces of our own making, for tests and benchmarks.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace stagecraft {

struct KinetoShape {
  int steps = 3;
  int layers = 2;
  int rank = 0, world_size = 1;
};

// Writes the trace of a training run whose every layer launches, forward, a GEMM of 4096 x 3584 x
// 8192 in aten::mm (300 us), a softmax (20 us) and a copy of 1 MiB (10 us), backward, on a thread
// of autograd, another GEMM (500 us), and at the end of the step an all-reduce of 64 MiB in bf16 on
// another stream (rank 0: 700 us; each further rank 100 us more) and an optimizer (90 us). A step
// takes 1000 us a layer, and 1000 us more. What it measures is thus known.
class KinetoTrace {
 public:
  KinetoTrace(const KinetoShape& shape, std::ostream& out) : shape_(shape), out_(out) {}

  void Write() {
    out_ << "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA H100 80GB "
            "HBM3\","
            "\"totalGlobalMem\":85520809984}],";
    out_ << fmt::format(
        "\"distributedInfo\":{{\"backend\":\"nccl\",\"rank\":{},\"world_size\":{},"
        "\"nccl_version\":\"2.21.5\"}},",
        shape_.rank, shape_.world_size);
    out_ << "\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":1726000000000000000,"
            "\"traceEvents\":[";
    for (int step = 0; step < shape_.steps; ++step) WriteStep(step);
    out_ << "\n],\"traceName\":\"rank.json\"}\n";
  }

  int64_t StepMicros() const { return 1000 * (shape_.layers + 1); }
  // Kernels and copies of a step.
  int KernelsOfStep() const { return 4 * shape_.layers + 2; }

 private:
  static constexpr int kMain = 100, kAutograd = 101;
  static constexpr int kCompute = 7, kNccl = 20;

  void Event(const std::string& fields) {
    out_ << (is_first_ ? "\n{" : ",\n{") << fields << "}";
    is_first_ = false;
  }

  void Slice(const char* category, const std::string& name, int thread, int64_t ts, int64_t dur,
             const std::string& args) {
    Event(fmt::format(
        "\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",\"pid\":4242,\"tid\":{},\"ts\":{}.125,"
        "\"dur\":{}.500,\"args\":{{{}}}",
        category, name, thread, ts, dur, args));
  }

  // A kernel, the call that launches it, and the arrow between them.
  void Kernel(const std::string& name, const char* category, int thread, int64_t launch_ts,
              int stream, int64_t ts, int64_t dur, const std::string& args = "") {
    ++correlation_;
    Slice("cuda_runtime", "cudaLaunchKernel", thread, launch_ts, 2,
          fmt::format("\"cbid\":211,\"correlation\":{}", correlation_));
    Event(fmt::format(
        "\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":{},\"pid\":4242,\"tid\":{},"
        "\"ts\":{}.125",
        correlation_, thread, launch_ts));
    Event(fmt::format(
        "\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",\"pid\":0,\"tid\":{},\"ts\":{}.000,"
        "\"dur\":{}.000,\"args\":{{\"device\":0,\"context\":1,\"stream\":{},"
        "\"correlation\":{},\"registers per thread\":168,\"grid\":[132,1,1],"
        "\"block\":[384,1,1]{}}}",
        category, name, stream, ts, dur, stream, correlation_, args));
  }

  void WriteForward(int layer, int64_t ts) {
    Slice("user_annotation", fmt::format("layers.{}", layer), kMain, ts, 99, "");
    const std::string sizes = fmt::format(
        "\"External id\":{},\"Sequence number\":{},\"Input Dims\":[[4096,8192],[8192,3584]],"
        "\"Input type\":[\"c10::BFloat16\",\"c10::BFloat16\"]",
        ++external_, Sequence(layer));
    Slice("cpu_op", "aten::mm", kMain, ts + 1, 8, sizes);
    Kernel("nvjet_hsh_256x128_64x4_2x1_v_bz_NNT", "kernel", kMain, ts + 3, kCompute, ts + 10, 300);
    Slice("cpu_op", "aten::softmax", kMain, ts + 20, 8, "");
    Kernel("void at::native::softmax_warp_forward<float>", "kernel", kMain, ts + 22, kCompute,
           ts + 320, 20);
    Kernel("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", kMain, ts + 40, kCompute, ts + 350, 10,
           ",\"bytes\":1048576");
  }

  void WriteBackward(int layer, int64_t ts) {
    Slice("cpu_op", "autograd::engine::evaluate_function: MmBackward0", kAutograd, ts, 40,
          fmt::format("\"Sequence number\":{}", Sequence(layer)));
    Slice("cpu_op", "aten::mm", kAutograd, ts + 1, 8,
          "\"Input Dims\":[[3584,4096],[4096,8192]],\"Input "
          "type\":[\"c10::BFloat16\",\"c10::BFloat16\"]");
    Kernel("nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", "kernel", kAutograd, ts + 3, kCompute, ts + 10,
           500);
  }

  int Sequence(int layer) const { return 1000 * step_ + layer; }

  void WriteStep(int step) {
    step_ = step;
    const int64_t begin = 100 + step * StepMicros();
    Slice("user_annotation", fmt::format("ProfilerStep#{}", step + 5), kMain, begin,
          StepMicros() - 1, "");
    // The annotation of the step on the host covers its launches on both threads.
    Slice("user_annotation", fmt::format("ProfilerStep#{}", step + 5), kAutograd, begin,
          StepMicros() - 1, "");
    for (int layer = 0; layer < shape_.layers; ++layer)
      WriteForward(layer, begin + 400 * layer + 1);
    const int64_t half = begin + 400 * shape_.layers;
    for (int layer = shape_.layers - 1; layer >= 0; --layer) {
      WriteBackward(layer, half + 600 * (shape_.layers - 1 - layer) + 1);
    }
    const int64_t end = begin + 1000 * shape_.layers;
    Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "kernel",
           kMain, end, kNccl, end + 1, 700 + 100 * shape_.rank,
           fmt::format(",\"Collective name\":\"allreduce\",\"In msg nelems\":33554432,"
                       "\"Out msg nelems\":33554432,\"Group size\":{},\"dtype\":\"BFloat16\","
                       "\"Process Group Name\":\"0\",\"Process Group Ranks\":\"{}\",\"Seq\":{}",
                       shape_.world_size, Ranks(), step));
    Slice("user_annotation", "Optimizer.step#AdamW.step", kMain, end + 10, 20, "");
    Kernel("void at::native::multi_tensor_apply_kernel<FusedAdam>", "kernel", kMain, end + 12,
           kCompute, end + 900, 90);
  }

  std::string Ranks() const {
    std::string ranks = "[0";
    for (int rank = 1; rank < shape_.world_size; ++rank) ranks += fmt::format(", {}", rank);
    return ranks + "]";
  }

  const KinetoShape shape_;
  std::ostream& out_;
  bool is_first_ = true;
  int step_ = 0;
  int64_t correlation_ = 0, external_ = 0;
};

}  // namespace stagecraft
