#include "tools/recorded/nsys_ranges.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "costmodel/op.h"
#include "tools/recorded/attention_calls.h"
#include "tools/recorded/gemm_shapes.h"

namespace stagecraft {
namespace {

// Until the kernel's name tells it, which it does after the kernels have been placed.
constexpr DType kProvisional = DType::kBf16;

template <typename T>
int32_t AddTo(std::vector<T>& list, const std::optional<T>& value) {
  if (!value) return -1;
  list.push_back(*value);
  return static_cast<int32_t>(list.size() - 1);
}

}  // namespace

void NsysRanges::Take(const RecordedSlice& range, std::string_view text, std::string_view payload,
                      Recording& recording) {
  RecordedSlice slice = range;
  const std::optional<NvtxOperator> op = OperatorOfNvtx(text);
  slice.name = recording.names.Intern(op ? op->name : text);
  if (op) {
    slice.sequence = op->sequence;
    slice.gemm = AddTo(recording.gemms, GemmOfSizes(op->name, op->dims, kProvisional));
    slice.attention =
        AddTo(recording.attentions, AttentionOfSizes(op->name, op->dims, kProvisional, {}));
  }
  const auto index = static_cast<int32_t>(recording.slices.size());
  recording.slices.push_back(slice);
  if (text == "ncclGroupStart" || text == "ncclGroupEnd") {
    group_edges_[range.thread].push_back({range.start_ns, text == "ncclGroupEnd", index});
  }
  std::optional<NcclCall> call = CallOfNccl(text, payload);
  if (!call) return;
  if (!call->kind) {
    sizes_[call->communicator] = call->group_size;
  } else {
    calls_.push_back({range.start_ns, range.thread, index, *std::move(call)});
  }
}

void NsysRanges::AddCollectives(Recording& recording) {
  std::sort(calls_.begin(), calls_.end(), [](const Call& a, const Call& b) {
    return std::pair(a.start_ns, a.slice) < std::pair(b.start_ns, b.slice);
  });
  std::map<std::string, int64_t> counts;
  for (const Call& call : calls_) {
    RecordedCollective collective;
    collective.kind = *call.of.kind;
    collective.message = call.of.message;
    collective.group = recording.names.Intern(call.of.communicator);
    collective.sequence = counts[call.of.communicator]++;
    const auto size = sizes_.find(call.of.communicator);
    if (size != sizes_.end()) collective.group_size = size->second;
    recording.slices[call.slice].collective = static_cast<int32_t>(recording.collectives.size());
    recording.collectives.push_back(collective);
  }
}

void NsysRanges::AddGroups(Recording& recording) const {
  for (const auto& [thread, unsorted] : group_edges_) {
    std::vector<GroupEdge> edges = unsorted;
    std::sort(edges.begin(), edges.end(), [](const GroupEdge& a, const GroupEdge& b) {
      return std::pair(a.start_ns, a.slice) < std::pair(b.start_ns, b.slice);
    });
    size_t next = 0;           // of the calls
    int depth = 0, calls = 0;  // of groups in groups; of calls in the outermost
    int32_t only = -1;         // the slice of the last of these
    for (const GroupEdge& edge : edges) {
      for (; next < calls_.size() && calls_[next].start_ns < edge.start_ns; ++next) {
        if (calls_[next].thread != thread || depth == 0) continue;
        ++calls;
        only = calls_[next].slice;
      }
      if (!edge.is_end) {
        if (depth++ == 0) calls = 0;
      } else if (depth > 0 && --depth == 0 && calls == 1) {
        recording.slices[edge.slice].collective = recording.slices[only].collective;
      }
    }
  }
}

void NsysRanges::Finish(Recording& recording) {
  AddCollectives(recording);
  AddGroups(recording);
}

}  // namespace stagecraft
