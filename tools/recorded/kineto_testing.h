// Kineto traces of our own making, for tests and benchmarks.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace stagecraft {

// What a trace says of its attention.
enum class TracedAttention {
  kNone,      // it has no attention
  kByInputs,  // the operator's inputs say that it is causal
  kByKernel,  // the kernel's name does
  kUntold,    // nothing does
};

struct KinetoShape {
  int steps = 3;
  int layers = 2;
  int rank = 0, world_size = 1;
  TracedAttention attention = TracedAttention::kNone;
};

// Writes the trace of a training run whose every layer launches, forward, a GEMM of 4096 x 3584 x
// 8192 in aten::mm (300 us), a softmax (20 us) and a copy of 1 MiB (10 us), backward, on a thread
// of autograd, another GEMM (500 us), and at the end of the step an all-reduce of 64 MiB in bf16 on
// another stream (rank 0: 700 us; each further rank 100 us more) and an optimizer (90 us). A step
// takes 1000 us a layer, and 1000 us more. What it measures is thus known. Attention, if there is,
// is of 2 sequences of 2048 tokens, with 32 heads of 128 and 8 of keys: forward one kernel of 30
// us, backward two of 5 and 60 us.
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
  int KernelsOfStep() const {
    return (shape_.attention == TracedAttention::kNone ? 4 : 7) * shape_.layers + 2;
  }

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

  // "Input Dims" and the like of an operator, with `before` inputs before the queries and `after`
  // after the values, of which one says whether the operator is causal.
  std::string AttentionInputs(int before, int after, int causal) const {
    const auto list = [&](const std::string& query, const std::string& key,
                          const std::string& other) {
      std::string text;
      for (int i = 0; i < before; ++i) text += query + ",";
      text += query + "," + key + "," + key;
      for (int i = 0; i < after; ++i) text += "," + other;
      return text;
    };
    std::string values;
    for (int i = 0; i < before + 3 + after; ++i) {
      values += i == causal ? ",\"True\"" : ",\"\"";
    }
    std::string inputs = fmt::format("\"Input Dims\":[{}],\"Input type\":[{}]",
                                     list("[2,32,2048,128]", "[2,8,2048,128]", "[]"),
                                     list("\"c10::BFloat16\"", "\"c10::BFloat16\"", "\"Scalar\""));
    if (shape_.attention == TracedAttention::kByInputs) {
      inputs += ",\"Concrete Inputs\":[" + values.substr(1) + "]";
    }
    return inputs;
  }

  // Returns the kernel's name, with the arguments of its template if these say that it is causal.
  std::string AttentionKernelName(const char* kernel, int others) const {
    if (shape_.attention != TracedAttention::kByKernel) return "flash_attention_kernel";
    std::string flags = "false, true, false";
    for (int i = 0; i < others; ++i) flags += ", false";
    return fmt::format("void flash::{}<Traits<128, 64, false>, {}>(flash::Params)", kernel, flags);
  }

  void WriteAttentionForward(int64_t ts) {
    Slice("cpu_op", "aten::_scaled_dot_product_flash_attention", kMain, ts + 50, 8,
          AttentionInputs(0, 3, 4));
    Kernel(AttentionKernelName("flash_fwd_kernel", 5), "kernel", kMain, ts + 52, kCompute, ts + 361,
           30);
  }

  void WriteAttentionBackward(int64_t ts) {
    Slice("cpu_op", "aten::_scaled_dot_product_flash_attention_backward", kAutograd, ts + 12, 20,
          AttentionInputs(1, 10, 11));
    Kernel("void flash::flash_bwd_dot_do_o_kernel<true, Traits>(flash::Params)", "kernel",
           kAutograd, ts + 14, kCompute, ts + 512, 5);
    Kernel(AttentionKernelName("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", 4), "kernel",
           kAutograd, ts + 16, kCompute, ts + 518, 60);
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
    if (shape_.attention != TracedAttention::kNone) WriteAttentionForward(ts);
  }

  void WriteBackward(int layer, int64_t ts) {
    Slice("cpu_op", "autograd::engine::evaluate_function: MmBackward0", kAutograd, ts, 40,
          fmt::format("\"Sequence number\":{}", Sequence(layer)));
    Slice("cpu_op", "aten::mm", kAutograd, ts + 1, 8,
          "\"Input Dims\":[[3584,4096],[4096,8192]],\"Input "
          "type\":[\"c10::BFloat16\",\"c10::BFloat16\"]");
    Kernel("nvjet_hsh_128x256_64x4_1x2_h_bz_TNT", "kernel", kAutograd, ts + 3, kCompute, ts + 10,
           500);
    if (shape_.attention != TracedAttention::kNone) WriteAttentionBackward(ts);
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
