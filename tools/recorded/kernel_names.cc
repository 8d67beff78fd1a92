#include "tools/recorded/kernel_names.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace stagecraft {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

using NamePart = std::pair<std::string_view, KernelClass>;

// The first part that a name contains, in lower case, decides. NCCL prints both orders of the
// fields of a name; a kernel for messages between pairs may be an all-to-all.
constexpr NamePart kCollectives[] = {
    {"allreduce", KernelClass::kAllReduce},
    {"all_reduce", KernelClass::kAllReduce},
    {"reducescatter", KernelClass::kReduceScatter},
    {"reduce_scatter", KernelClass::kReduceScatter},
    {"allgather", KernelClass::kAllGather},
    {"all_gather", KernelClass::kAllGather},
    {"alltoall", KernelClass::kAllToAll},
    {"all_to_all", KernelClass::kAllToAll},
    {"broadcast", KernelClass::kBroadcast},
    {"sendrecv", KernelClass::kSendRecv},
    {"send", KernelClass::kSendRecv},
    {"recv", KernelClass::kSendRecv},
    {"reduce", KernelClass::kAllReduce},
};
constexpr NamePart kKernels[] = {
    {"flash", KernelClass::kAttention},
    {"fmha", KernelClass::kAttention},
    {"attention", KernelClass::kAttention},
    {"sdpa", KernelClass::kAttention},
    {"attn", KernelClass::kAttention},
    {"cutlassf", KernelClass::kAttention},
    {"cutlassb", KernelClass::kAttention},
    {"convert", KernelClass::kElementwise},
    {"wgrad_gemm", KernelClass::kGemm},
    {"conv", KernelClass::kConvolution},
    {"fprop", KernelClass::kConvolution},
    {"dgrad", KernelClass::kConvolution},
    {"wgrad", KernelClass::kConvolution},
    {"winograd", KernelClass::kConvolution},
    {"spmm", KernelClass::kSparse},
    {"sddmm", KernelClass::kSparse},
    {"csrmm", KernelClass::kSparse},
    {"gemm", KernelClass::kGemm},
    {"nvjet", KernelClass::kGemm},
    {"matmul", KernelClass::kGemm},
    {"splitk", KernelClass::kGemm},
    {"gemv", KernelClass::kGemm},
    {"cijk_", KernelClass::kGemm},
    {"triton_tem", KernelClass::kGemm},  // TorchInductor's templates multiply matrices
    {"cublas", KernelClass::kGemm},
    {"s16816", KernelClass::kGemm},
    {"h884", KernelClass::kGemm},
    {"adam", KernelClass::kOptimizer},
    {"lamb", KernelClass::kOptimizer},
    {"multi_tensor", KernelClass::kOptimizer},
    {"sgd", KernelClass::kOptimizer},
    {"softmax", KernelClass::kSoftmax},
    {"layer_norm", KernelClass::kNorm},
    {"layernorm", KernelClass::kNorm},
    {"rms_norm", KernelClass::kNorm},
    {"rmsnorm", KernelClass::kNorm},
    {"batch_norm", KernelClass::kNorm},
    {"batchnorm", KernelClass::kNorm},
    {"group_norm", KernelClass::kNorm},
    {"bn_fw", KernelClass::kNorm},
    {"bn_bw", KernelClass::kNorm},
    {"gammabeta", KernelClass::kNorm},
    {"memcpy", KernelClass::kCopy},
    {"memset", KernelClass::kCopy},
    {"elementwise", KernelClass::kElementwise},
    {"triton_", KernelClass::kElementwise},
    {"reduce_kernel", KernelClass::kElementwise},
    {"index", KernelClass::kElementwise},
    {"embedding", KernelClass::kElementwise},
    {"gather", KernelClass::kElementwise},
    {"scatter", KernelClass::kElementwise},
    {"cat", KernelClass::kElementwise},
    {"copy", KernelClass::kElementwise},
    {"fill", KernelClass::kElementwise},
    {"dropout", KernelClass::kElementwise},
    {"gelu", KernelClass::kElementwise},
    {"silu", KernelClass::kElementwise},
    {"swiglu", KernelClass::kElementwise},
    {"rope", KernelClass::kElementwise},
    {"rotary", KernelClass::kElementwise},
    {"cast", KernelClass::kElementwise},
    {"transpose", KernelClass::kElementwise},
    {"nll_loss", KernelClass::kElementwise},
    {"cross_entropy", KernelClass::kSoftmax},
};

// The first part that a name contains, in lower case, decides: names state the format of the result
// and of the sums, too, but the operands are in the one with the fewest bits.
constexpr std::pair<std::string_view, DType> kFormats[] = {
    {"e2m1", DType::kNvfp4},     {"e4m3", DType::kFp8},   {"e5m2", DType::kFp8},
    {"fp8", DType::kFp8},        {"float8", DType::kFp8}, {"bf16", DType::kBf16},
    {"bfloat16", DType::kBf16},  {"tf32", DType::kTf32},  {"f16", DType::kFp16},
    {"fp16", DType::kFp16},      {"half", DType::kFp16},  {"hgemm", DType::kFp16},
    {"h884", DType::kFp16},      {"h1688", DType::kFp16}, {"h16816", DType::kFp16},
    {"s1688gemm", DType::kTf32}, {"sgemm", DType::kFp32}, {"f32f32", DType::kFp32},
    {"<float", DType::kFp32},
};

// "nvjet_tst_192x192_...", "nvjet_sm100_hsh_...": the first letter is the format of the left
// operand.
constexpr std::string_view kNvjet = "nvjet_";
std::optional<DType> FormatOfNvjet(std::string_view lower) {
  std::string_view rest = lower.substr(kNvjet.size());
  if (rest.starts_with("sm")) rest = rest.substr(std::min(rest.find('_') + 1, rest.size()));
  if (rest.starts_with('t')) return DType::kBf16;
  if (rest.starts_with('h')) return DType::kFp16;
  if (rest.starts_with('q')) return DType::kFp8;
  return {};
}

// Returns the number after a word, with at most one 's' and one of " ._-#:=[/" between them:
// "layers.12" for "layer". -1 if there is none.
int32_t NumberAfter(std::string_view text, std::string_view word) {
  constexpr size_t kMostDigits = 6;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    std::string_view rest = text.substr(at + word.size());
    if (rest.starts_with('s')) rest.remove_prefix(1);
    if (!rest.empty() && std::string_view(" ._-#:=[/").find(rest[0]) != std::string_view::npos) {
      rest.remove_prefix(1);
    }
    size_t digits = 0;
    while (digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0) {
      ++digits;
    }
    if (digits == 0 || digits > kMostDigits) continue;
    return std::stoi(std::string(rest.substr(0, digits)));
  }
  return -1;
}

// The same for a short word, which counts only at the beginning of a word of the text.
int32_t NumberAfterWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
    if (!begins) continue;
    const std::string_view rest = text.substr(at);
    const int32_t number = NumberAfter(rest, word);
    // Only if it follows the word itself, not a later one.
    const size_t digit = rest.find_first_of("0123456789");
    if (number >= 0 && digit <= word.size() + 1) return number;
  }
  return -1;
}

int32_t StepOf(std::string_view text) {
  for (const std::string_view word :
       {"profilerstep", "train_step", "training_step", "iteration", "step"}) {
    if (text.starts_with(word)) return NumberAfter(text, word);
  }
  return -1;
}

std::optional<Phase> PhaseOf(std::string_view text) {
  if (Contains(text, "zero_grad")) return {};
  // What runs both is none of them.
  const bool is_forward = Contains(text, "forward"), is_backward = Contains(text, "backward");
  const bool is_send = Contains(text, "send") || Contains(text, "recv");
  if (Contains(text, "post_backward_reduce") || Contains(text, "grads-sync") ||
      Contains(text, "grads-reduce") || Contains(text, "grad_reduce") ||
      Contains(text, "grad-reduce")) {
    return Phase::kGradReduce;
  }
  if (Contains(text, "fsdp::all_gather") || Contains(text, "params-all-gather") ||
      Contains(text, "param_gather")) {
    return Phase::kParamGather;
  }
  if (is_forward && is_backward) return {};
  if (IsAutograd(text) || is_backward) return is_send ? Phase::kSendBackward : Phase::kBackward;
  if (Contains(text, "optimizer")) return Phase::kOptimizer;
  if (is_forward) return is_send ? Phase::kSendForward : Phase::kForward;
  return {};
}

}  // namespace

KernelClass ClassOfKernel(std::string_view name) {
  const std::string lower = Lower(name);
  if (lower.starts_with("nccl") || lower.starts_with("rccl") || lower.starts_with("mscclkernel")) {
    return ClassOfCollective(lower).value_or(KernelClass::kOther);
  }
  for (const auto& [part, kind] : kKernels) {
    if (Contains(lower, part)) return kind;
  }
  return KernelClass::kOther;
}

std::optional<KernelClass> ClassOfCollective(std::string_view name) {
  const std::string lower = Lower(name);
  for (const auto& [part, kind] : kCollectives) {
    if (Contains(lower, part)) return kind;
  }
  return {};
}

NamedType TypeOf(std::string_view name) {
  if (name.starts_with("c10::")) name.remove_prefix(5);
  const std::string lower = Lower(name);
  if (lower == "bfloat16") return {DType::kBf16, 2};
  if (lower == "half" || lower == "float16") return {DType::kFp16, 2};
  if (lower == "float" || lower == "float32") return {DType::kFp32, 4};
  if (lower.starts_with("float8")) return {DType::kFp8, 1};
  if (lower == "byte" || lower == "char" || lower == "bool" || lower == "int8" ||
      lower == "uint8" || lower == "unsigned char" || lower == "signed char") {
    return {{}, 1};
  }
  if (lower == "int" || lower == "int32") return {{}, 4};
  if (lower == "short" || lower == "int16") return {{}, 2};
  if (lower == "double" || lower == "float64" || lower == "long" || lower == "long int" ||
      lower == "int64") {
    return {{}, 8};
  }
  return {};
}

std::optional<DType> FormatOfKernel(std::string_view name) {
  const std::string lower = Lower(name);
  // cuDNN calls both formats of 16 bits f16.
  if (Contains(lower, "cudnn_generated")) return {};
  if (lower.starts_with(kNvjet)) return FormatOfNvjet(lower);
  for (const auto& [part, format] : kFormats) {
    if (Contains(lower, part)) return format;
  }
  return {};
}

bool IsAutograd(std::string_view name) { return name.starts_with("autograd::engine::"); }

KernelPlace PlaceByName(std::string_view name) {
  const std::string text = Lower(name);
  KernelPlace place;
  place.step = StepOf(text);
  place.phase = PhaseOf(text);
  for (const std::string_view word : {"layer", "block"}) {
    if (place.layer < 0) place.layer = NumberAfter(text, word);
  }
  if (place.layer < 0) place.layer = NumberAfterWord(text, "h.");
  for (const std::string_view word : {"microbatch", "micro-batch", "micro_batch", "micro batch"}) {
    if (place.micro_batch < 0) place.micro_batch = NumberAfter(text, word);
  }
  if (place.micro_batch < 0) place.micro_batch = NumberAfterWord(text, "mb");
  return place;
}

}  // namespace stagecraft
