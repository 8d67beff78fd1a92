#include "tools/recorded/kineto_collector.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "tools/recorded/attention_calls.h"
#include "tools/recorded/gemm_shapes.h"
#include "tools/recorded/kernel_names.h"
#include "tools/recorded/kernel_places.h"
#include "tools/recorded/own_words.h"

namespace stagecraft {
namespace {

constexpr int64_t kMostEvents = 200'000'000;
constexpr int64_t kFirstNamedNumber = int64_t{1} << 40;  // above all ids of processes

int32_t Narrow(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, -1, std::numeric_limits<int32_t>::max()));
}

bool IsRuntime(std::string_view category) {
  return category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime" ||
         category == "runtime";
}

}  // namespace

KinetoCollector::KinetoCollector(const std::string& path) {
  recording_.file = path;
  recording_.profiler = "kineto";
}

void KinetoCollector::Note(std::string sentence) {
  recording_.notes.push_back(std::move(sentence));
}

int64_t KinetoCollector::NumberOf(std::string_view name) {
  const auto [found, is_new] = numbers_.try_emplace(
      std::string(name), kFirstNamedNumber + static_cast<int64_t>(numbers_.size()));
  return found->second;
}

int64_t KinetoCollector::ThreadOf(const KinetoEvent& event) {
  return threads_.try_emplace({event.process, event.thread}, std::ssize(threads_)).first->second;
}

void KinetoCollector::Take(const KinetoEvent& event) {
  if (++events_ > kMostEvents) {
    throw InputError(
        fmt::format("{}: got more than {} events, want fewer", recording_.file, kMostEvents));
  }
  if (event.phase != "X") return;  // metadata, arrows, counters
  const std::string_view category = event.category;
  if (category == "kernel" || category == "Kernel") {
    const auto [found, is_new] = class_of_name_.try_emplace(event.name);
    if (is_new) found->second = ClassOfKernel(event.name);
    TakeKernel(event, found->second);
  } else if (category == "gpu_memcpy" || category == "gpu_memset" || category == "Memcpy" ||
             category == "Memset") {
    TakeKernel(event, KernelClass::kCopy);
  } else if (category == "gpu_user_annotation") {
    const int64_t device = event.device >= 0 ? event.device : event.process;
    const int64_t stream = event.stream >= 0 ? event.stream : event.thread;
    TakeSlice(event, KeyOfStream(Narrow(device), Narrow(stream)));
  } else if (IsRuntime(category)) {
    if (event.correlation >= 0 && event.start_ns) {
      recording_.launches.push_back({event.correlation, ThreadOf(event), *event.start_ns});
    }
  } else if (category == "cpu_op" || category == "user_annotation" ||
             category == "python_function" || category == "Operator") {
    TakeSlice(event, ThreadOf(event));
  }
}

void KinetoCollector::TakeSlice(const KinetoEvent& event, int64_t thread) {
  if (!event.start_ns || event.duration_ns.value_or(-1) < 0) return;
  RecordedSlice slice;
  slice.start_ns = *event.start_ns;
  slice.end_ns = *event.start_ns + *event.duration_ns;
  slice.thread = thread;
  slice.name = recording_.names.Intern(event.name);
  slice.sequence = event.sequence;
  slice.external = event.category == "cpu_op" ? event.external : -1;
  slice.gemm = GemmOf(event);
  slice.attention = AttentionOf(event);
  if (event.name == "record_param_comms") {
    slice.collective = CollectiveOf(event, KernelClass::kOther);
  }
  recording_.slices.push_back(slice);
}

int32_t KinetoCollector::GemmOf(const KinetoEvent& event) {
  if (event.dims.empty()) return -1;
  const std::optional<Op> gemm = GemmOfOperator(event.name, event.dims, event.types);
  if (!gemm) return -1;
  recording_.gemms.push_back(*gemm);
  return Narrow(std::ssize(recording_.gemms) - 1);
}

int32_t KinetoCollector::AttentionOf(const KinetoEvent& event) {
  if (event.dims.empty()) return -1;
  const std::optional<RecordedAttention> call =
      AttentionOfOperator(event.name, event.dims, event.types, event.values);
  if (!call) return -1;
  recording_.attentions.push_back(*call);
  return Narrow(std::ssize(recording_.attentions) - 1);
}

int32_t KinetoCollector::CollectiveOf(const KinetoEvent& event, KernelClass by_name) {
  if (event.collective.empty()) return -1;
  const std::optional<KernelClass> named = ClassOfCollective(event.collective);
  RecordedCollective collective;
  collective.kind = named.value_or(by_name);
  if (!IsCommunication(collective.kind)) return -1;
  const NamedType type = TypeOf(event.dtype);
  const int64_t elements = std::max(event.in_elements, event.out_elements);
  constexpr int64_t kMostElements = int64_t{1} << 52;
  if (elements > 0 && elements < kMostElements) collective.bytes = Bytes(elements * type.bytes);
  collective.group_size = std::max(Narrow(event.group_size), 0);
  collective.group = event.group.empty() ? -1 : recording_.names.Intern(event.group);
  if (!event.ranks.empty()) collective.ranks = recording_.names.Intern(event.ranks);
  collective.sequence = event.group_sequence;
  collective.dtype = recording_.names.Intern(event.dtype);
  recording_.collectives.push_back(collective);
  return Narrow(std::ssize(recording_.collectives) - 1);
}

void KinetoCollector::TakeKernel(const KinetoEvent& event, KernelClass kind) {
  if (!event.start_ns || event.duration_ns.value_or(-1) < 0) {
    throw InputError(
        fmt::format("{}: event {}: {} \"{}\": got no ts or no dur of at least 0, want "
                    "both in microseconds",
                    recording_.file, events_ - 1, event.category, event.name));
  }
  RecordedKernel kernel;
  kernel.start_ns = *event.start_ns;
  kernel.end_ns = *event.start_ns + *event.duration_ns;
  kernel.name = recording_.names.Intern(event.name);
  kernel.device = Narrow(event.device >= 0 ? event.device : event.process);
  kernel.stream = Narrow(event.stream >= 0 ? event.stream : event.thread);
  kernel.kind = kind;
  kernel.correlation = event.correlation;
  kernel.external = event.external;
  kernel.collective = CollectiveOf(event, kind);
  if (event.own_task >= 0) TakeOwn(event, kernel);
  recording_.kernels.push_back(kernel);
}

void KinetoCollector::TakeOwn(const KinetoEvent& event, RecordedKernel& kernel) {
  const auto fail = [&](KinetoKey key, const std::string& got) {
    throw InputError(fmt::format("{}: event {}: {}: got \"{}\", want a word that export writes",
                                 recording_.file, events_ - 1, Word(key), got));
  };
  const std::optional<KernelClass> kind = FindKernelClass(event.own_class);
  if (!kind) fail(KinetoKey::kOwnClass, event.own_class);
  OwnTask own;
  own.task = Narrow(event.own_task);
  if (!event.own_lane.empty()) {
    own.lane = FindLaneKind(event.own_lane);
    if (!own.lane) fail(KinetoKey::kOwnLane, event.own_lane);
  }
  own.tag.rank = Narrow(event.own_rank);
  own.tag.stage = static_cast<int16_t>(std::clamp<int64_t>(event.own_stage, -1, INT16_MAX));
  own.tag.chunk = static_cast<int16_t>(std::clamp<int64_t>(event.own_chunk, -1, INT16_MAX));
  own.tag.micro_batch = Narrow(event.own_micro_batch);
  own.tag.segment = static_cast<uint8_t>(std::clamp<int64_t>(event.own_segment, 0, UINT8_MAX));
  kernel.kind = *kind;
  kernel.place.layer = Narrow(event.own_layer);
  if (!event.own_phase.empty()) {
    kernel.place.phase = FindPhase(event.own_phase);
    if (!kernel.place.phase) fail(KinetoKey::kOwnPhase, event.own_phase);
    own.tag.phase = *kernel.place.phase;
  }
  kernel.place.micro_batch = own.tag.micro_batch;
  kernel.own = Narrow(std::ssize(recording_.own));
  recording_.own.push_back(own);
}

void KinetoCollector::TakeHead(std::string_view key, std::string_view inner, int64_t value) {
  if (key == "baseTimeNanoseconds") {
    if (value < 0 || value > kMostTraceNs) {
      throw InputError(fmt::format("{}: baseTimeNanoseconds: got {}, want 0 to {}", recording_.file,
                                   value, kMostTraceNs));
    }
    recording_.base_ns = value;
  }
  if (key == "deviceProperties" && inner == "id") device_id_ = value;
  if (key == "distributedInfo" && inner == "rank") recording_.rank = Narrow(value);
  if (key == "distributedInfo" && inner == "world_size") {
    recording_.world_size = std::max(Narrow(value), 0);
  }
  if (key == "stagecraft" && inner == "step_ns") recording_.own_steps_ns.push_back(value);
}

void KinetoCollector::TakeHead(std::string_view key, std::string_view inner,
                               std::string_view text) {
  const auto add = [&](std::string_view what) {
    if (!recording_.software.empty()) recording_.software += ", ";
    recording_.software += what;
  };
  if (key == "deviceProperties" && inner == "name") {
    recording_.devices[Narrow(device_id_)] = text;
  }
  if (key == "distributedInfo" && inner == "nccl_version") add(fmt::format("NCCL {}", text));
  if (key == "stagecraft" && inner == "software") add(text);
  if (key == "stagecraft" && inner == "executor") recording_.profiler = text;
}

Recording KinetoCollector::Finish() {
  if (recording_.kernels.empty()) {
    throw InputError(
        fmt::format("{}: got no kernel among {} events, want a trace that recorded "
                    "CUDA activities",
                    recording_.file, events_));
  }
  return std::move(recording_);
}

}  // namespace stagecraft
