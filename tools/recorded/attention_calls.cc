#include "tools/recorded/attention_calls.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tools/recorded/kernel_names.h"

namespace stagecraft {
namespace {

using Dims = std::vector<int64_t>;

constexpr int kNone = -1;
constexpr int64_t kMostOfASize = int64_t{1} << 40;
constexpr auto kBackward = Direction::kBackward;

// Where the inputs of an operator are. Keys and values follow the queries.
struct Signature {
  std::string_view name;
  Direction direction = Direction::kForward;
  size_t query = 0;
  bool has_rows_first = false;  // (batch, rows, heads, size), else (batch, heads, rows, size)
  int dropout = kNone, causal = kNone, window = kNone, mask = kNone, lengths = kNone;
  AttentionKernel kernel = AttentionKernel::kFlash;
};
// The schemas of PyTorch 2.1 to 2.8 (aten/src/ATen/native/native_functions.yaml) and of
// FlashAttention 2.5 to 2.8 (flash_attn/flash_attn_interface.py).
constexpr Signature kSignatures[] = {
    {.name = "aten::_scaled_dot_product_flash_attention", .dropout = 3, .causal = 4},
    {.name = "aten::_scaled_dot_product_flash_attention_backward",
     .direction = kBackward,
     .query = 1,
     .dropout = 10,
     .causal = 11,
     .lengths = 6},
    {.name = "aten::_flash_attention_forward",
     .has_rows_first = true,
     .dropout = 7,
     .causal = 8,
     .window = 11,
     .lengths = 3},
    {.name = "aten::_flash_attention_backward",
     .direction = kBackward,
     .query = 1,
     .has_rows_first = true,
     .dropout = 10,
     .causal = 11,
     .window = 15,
     .lengths = 6},
    {.name = "aten::_scaled_dot_product_cudnn_attention",
     .dropout = 5,
     .causal = 6,
     .mask = 3,
     .kernel = AttentionKernel::kCudnn},
    {.name = "aten::_scaled_dot_product_cudnn_attention_backward",
     .direction = kBackward,
     .query = 1,
     .dropout = 13,
     .causal = 14,
     .mask = 8,
     .lengths = 9,
     .kernel = AttentionKernel::kCudnn},
    {.name = "flash_attn::_flash_attn_forward",
     .has_rows_first = true,
     .dropout = 3,
     .causal = 5,
     .window = 6},
    {.name = "flash_attn::_flash_attn_backward",
     .direction = kBackward,
     .query = 1,
     .has_rows_first = true,
     .dropout = 9,
     .causal = 11,
     .window = 12},
    {.name = "FlashAttnFunc", .has_rows_first = true},
};

// Returns nullptr for operators that are no attention.
const Signature* FindSignature(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kSignatures), std::end(kSignatures),
                   [&](const Signature& signature) { return signature.name == name; });
  return found == std::end(kSignatures) ? nullptr : found;
}

bool AreSizes(const Dims& dims) {
  return dims.size() == 4 &&
         std::all_of(dims.begin(), dims.end(), [](int64_t n) { return n > 0 && n < kMostOfASize; });
}

std::string_view ValueAt(std::span<const std::string> values, int place) {
  const bool is_there = place >= 0 && static_cast<size_t>(place) < values.size();
  return is_there ? std::string_view(values[static_cast<size_t>(place)]) : "";
}

bool IsTensor(std::span<const Dims> dims, int place) {
  return place >= 0 && static_cast<size_t>(place) < dims.size() &&
         !dims[static_cast<size_t>(place)].empty();
}

std::optional<bool> FlagOf(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return {};
}

// Why a call cannot be a sample, whatever its kernel; nullptr if it can.
const char* ObstacleOf(const Signature& signature, std::span<const Dims> dims,
                       std::span<const std::string> values) {
  if (IsTensor(dims, signature.mask)) return "they have a mask";
  if (IsTensor(dims, signature.lengths)) return "their sequences have lengths of their own";
  const std::string dropout(ValueAt(values, signature.dropout));
  if (!dropout.empty() && std::strtod(dropout.c_str(), nullptr) != 0) return "they drop values";
  for (const int side : {0, 1}) {
    const std::string_view window =
        signature.window == kNone ? "" : ValueAt(values, signature.window + side);
    if (!window.empty() && window != "-1" && window != "None") return "they have a window";
  }
  return nullptr;
}

// The last arguments of the template that are true or false, as 0 and 1: those of the kernel itself
// follow those of its traits.
std::vector<bool> LastFlags(std::string_view name) {
  std::vector<bool> flags, last;
  size_t end = 0;
  const auto take = [&](size_t begin, size_t size, bool value, size_t gap) {
    if (begin > end + gap) flags.clear();
    flags.push_back(value);
    end = begin + size;
    last = flags;
  };
  for (size_t at = 0; at < name.size(); ++at) {
    const std::string_view rest = name.substr(at);
    if (rest.starts_with("Lb0E") || rest.starts_with("Lb1E")) take(at, 4, rest[2] == '1', 0);
    const bool begins =
        at == 0 || name[at - 1] == ' ' || name[at - 1] == ',' || name[at - 1] == '<';
    // Two characters, ", ", may stand between two arguments; older demanglers write (bool)1.
    if (begins && rest.starts_with("true")) take(at, 4, true, 2);
    if (begins && rest.starts_with("false")) take(at, 5, false, 2);
    if (rest.starts_with("(bool)1")) take(at, 7, true, 2);
    if (rest.starts_with("(bool)0")) take(at, 7, false, 2);
  }
  return last;
}

// The arguments of FlashAttention 2's kernels: whether they drop values, are causal, are local
// (from 2.3 on, with one argument more), and others
// (csrc/flash_attn/src/flash_fwd_launch_template.h, flash_bwd_launch_template.h). Kernels for
// divided keys have no dropout.
AttentionName OfFlash2(std::string_view name) {
  AttentionName told;
  told.kernel = AttentionKernel::kFlash2;
  const std::vector<bool> flags = LastFlags(name);
  const bool is_forward = name.find("flash_fwd_kernel") != name.npos;
  const bool is_backward = name.find("flash_bwd_dq_dk_dv") != name.npos;
  if (name.find("splitkv_kernel") != name.npos && flags.size() >= 2) {
    told.is_causal = flags[0];
    told.is_local = flags[1];
  } else if ((is_forward && flags.size() >= 5) || (is_backward && flags.size() >= 4)) {
    told.has_dropout = flags[0];
    told.is_causal = flags[1];
    told.is_local = flags.size() >= (is_forward ? 6u : 5u) && flags[2];
  }
  return told;
}

// FlashAttention 3 (hopper/mainloop_fwd_sm90_tma_gmma_ws.hpp, mainloop_bwd_sm90_tma_gmma_ws.hpp):
// the first arguments after the architecture are whether it is causal and whether it is local.
AttentionName OfFlash3(std::string_view name) {
  AttentionName told;
  told.kernel = AttentionKernel::kFlash3;
  size_t at = name.find("CollectiveMainloop");
  if (at == name.npos) return told;
  constexpr std::array<std::string_view, 2> kArchitectures = {"arch::Sm90,", "4arch4Sm90E"};
  for (const std::string_view architecture : kArchitectures) {
    const size_t begin = name.find(architecture, at);
    if (begin == name.npos) continue;
    std::string_view rest = name.substr(begin + architecture.size());
    std::vector<bool> flags;
    while (flags.size() < 2) {
      while (rest.starts_with(' ') || rest.starts_with(',')) rest.remove_prefix(1);
      const bool is_mangled = rest.starts_with("Lb");
      const bool is_true = rest.starts_with("true") || rest.starts_with("Lb1E");
      if (!is_true && !rest.starts_with("false") && !rest.starts_with("Lb0E")) return told;
      flags.push_back(is_true);
      rest.remove_prefix(is_mangled ? 4 : is_true ? 4 : 5);
    }
    told.is_causal = flags[0];
    told.is_local = flags[1];
    return told;
  }
  return told;
}

}  // namespace

std::optional<RecordedAttention> AttentionOfOperator(std::string_view name,
                                                     std::span<const Dims> dims,
                                                     std::span<const std::string> types,
                                                     std::span<const std::string> values) {
  const Signature* const found = FindSignature(name);
  if (found == nullptr || types.size() <= found->query) return {};
  const std::optional<DType> dtype = TypeOf(types[found->query]).dtype;
  if (!dtype) return {};
  return AttentionOfSizes(name, dims, *dtype, values);
}

std::optional<RecordedAttention> AttentionOfSizes(std::string_view name, std::span<const Dims> dims,
                                                  DType dtype,
                                                  std::span<const std::string> values) {
  const Signature* const found = FindSignature(name);
  if (found == nullptr || dims.size() < found->query + 3) return {};
  const Dims& query = dims[found->query];
  const Dims& key = dims[found->query + 1];
  const Dims& value = dims[found->query + 2];
  if (!AreSizes(query) || !AreSizes(key) || !AreSizes(value)) return {};
  const size_t rows = found->has_rows_first ? 1 : 2, heads = found->has_rows_first ? 2 : 1;
  const bool fits = query[0] == key[0] && query[3] == key[3] && key[rows] == value[rows] &&
                    key[heads] == value[heads] && query[heads] % key[heads] == 0;
  if (!fits || query[0] > kMostOfASize / query[heads]) return {};
  RecordedAttention call;
  call.op = Op::Attention(dtype, found->direction, query[0] * query[heads], query[rows], key[rows],
                          query[3], /*causal=*/false);
  if (Operands(call.op) > kMostOperands) return {};
  call.op.sequences = query[0];
  call.op.kv_batch = key[0] * key[heads];
  call.op.attention_kernel = found->kernel;
  call.is_causal = FlagOf(ValueAt(values, found->causal));
  call.obstacle = ObstacleOf(*found, dims, values);
  if (value[3] != query[3]) call.obstacle = "their values have another size than their keys";
  return call;
}

AttentionName AttentionOfKernel(std::string_view name) {
  if (name.find("FlashAttnFwdSm90") != name.npos || name.find("FlashAttnBwdSm90") != name.npos) {
    return OfFlash3(name);
  }
  const bool is_flash2 =
      name.find("flash::flash_") != name.npos || name.find("5flash") != name.npos;
  return is_flash2 ? OfFlash2(name) : AttentionName();
}

}  // namespace stagecraft
