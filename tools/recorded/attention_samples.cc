#include "tools/recorded/attention_samples.h"

#include <fmt/core.h>

#include <utility>

#include "costmodel/op.h"
#include "sim/schedule/kernel_profile.h"
#include "tools/recorded/attention_calls.h"
#include "tools/recorded/kernel_names.h"

namespace stagecraft {
namespace {

// The names of samples, which say which kernel ran (data/attention_kernels.textproto).
const char* SampleName(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::kFlash2:
      return "flash2_attention";
    case AttentionKernel::kFlash3:
      return "flash3_attention";
    case AttentionKernel::kCudnn:
      return "cudnn_attention";
    default:
      return "flash_attention";
  }
}

std::vector<int64_t> SizesOf(const Op& op) {
  return {static_cast<int64_t>(op.dtype),
          static_cast<int64_t>(op.direction),
          op.causal ? 1 : 0,
          op.sequences,
          op.kv_batch,
          op.batch,
          op.m,
          op.n,
          op.k};
}

}  // namespace

struct AttentionSampler::Call {
  Op op;
  int64_t ns = 0;
  int32_t attention = -1, device = 0;
  // By its kernels.
  AttentionName told;
  std::optional<DType> format;
};

void AttentionSampler::Take(const Recording& recording, int first_step) {
  std::map<int32_t, Call> calls;  // by operator
  std::map<int32_t, AttentionName> names;
  for (const RecordedKernel& kernel : recording.kernels) {
    if (kernel.kind != KernelClass::kAttention) continue;
    ++kernels_;
    if (kernel.attention < 0) {
      ++unsized_;
      continue;
    }
    if (first_step >= 0 && kernel.place.step == first_step) continue;
    const auto [name, is_new] = names.try_emplace(kernel.name);
    if (is_new) name->second = AttentionOfKernel(recording.names[kernel.name]);
    Call& call = calls[kernel.attention];
    call.ns += kernel.end_ns - kernel.start_ns;
    call.attention = kernel.attention;
    call.device = kernel.device;
    if (!call.format) call.format = FormatOfKernel(recording.names[kernel.name]);
    const AttentionName& told = name->second;
    if (told.is_causal) call.told.is_causal = told.is_causal;
    if (told.is_local) call.told.is_local = told.is_local;
    if (told.has_dropout) call.told.has_dropout = told.has_dropout;
    if (told.kernel) call.told.kernel = told.kernel;
  }
  for (auto& [index, call] : calls) {
    if (call.ns <= 0) continue;
    ++all_;
    const char* const obstacle = Complete(recording, call);
    if (obstacle != nullptr) {
      ++left_out_[obstacle];
      continue;
    }
    const std::string gpu = GpuIdOf(recording, call.device, gpu_);
    SampledCalls& of = calls_[{gpu, SampleName(call.op.attention_kernel), SizesOf(call.op)}];
    of.op = call.op;
    of.gpu = gpu;
    of.software = recording.software;
    of.seconds.push_back(1e-9 * static_cast<double>(call.ns));
  }
}

const char* AttentionSampler::Complete(const Recording& recording, Call& call) const {
  const RecordedAttention& recorded = recording.attentions[call.attention];
  if (recorded.obstacle != nullptr) return recorded.obstacle;
  if (call.told.is_local.value_or(false)) return "they have a window";
  if (call.told.has_dropout.value_or(false)) return "they drop values";
  // The kernel's name says what ran: PyTorch runs a causal call of a single query as any other.
  const std::optional<bool> is_causal = call.told.is_causal  ? call.told.is_causal
                                        : recorded.is_causal ? recorded.is_causal
                                                             : is_causal_;
  if (!is_causal) {
    return "neither their inputs nor their kernels tell whether they are causal "
           "(--attention-causal says it)";
  }
  if (*is_causal && recorded.op.m != recorded.op.n) return "they are causal, of unequal lengths";
  const std::optional<DType> format = FormatOf(recording, recorded.op.dtype, call.format, format_);
  if (!format) {
    return "the names of their kernels do not tell the number format (--sample-precision says it)";
  }
  call.op = recorded.op;
  call.op.dtype = *format;
  call.op.causal = *is_causal;
  if (call.told.kernel) call.op.attention_kernel = *call.told.kernel;
  return nullptr;
}

std::vector<Sample> AttentionSampler::Finish(const std::string& profiler,
                                             std::vector<std::string>& notes) const {
  std::vector<Sample> samples;
  for (const auto& [key, calls] : calls_) {
    samples.push_back(SampleOf(calls, std::get<1>(key), profiler));
  }
  if (unsized_ > 0) {
    notes.push_back(
        fmt::format("{} of {} kernels of attention give no sample: no operator with known sizes "
                    "launched them (record_shapes=True records sizes)",
                    unsized_, kernels_));
  }
  for (const auto& [reason, count] : left_out_) {
    notes.push_back(
        fmt::format("{} of {} calls of attention give no sample: {}", count, all_, reason));
  }
  return samples;
}

}  // namespace stagecraft
