#include "tools/recorded/kernel_places.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/recorded/kernel_names.h"

namespace stagecraft {
namespace {

// What a slice says about what runs in it, with what the slices around it say.
struct Context {
  KernelPlace place;
  int32_t slice = -1;  // the innermost
  int32_t gemm = -1, attention = -1, collective = -1;
  bool is_backward = false;  // autograd runs it
};

// A backward stays one, and an optimizer, whatever the operators inside are called: recomputation
// runs forwards in a backward.
bool IsFixed(const KernelPlace& place) {
  return place.phase == Phase::kBackward || place.phase == Phase::kOptimizer;
}

void Refine(const KernelPlace& inner, KernelPlace& place) {
  const bool is_exchange = inner.phase && !IsPass(*inner.phase) && inner.phase != Phase::kOptimizer;
  if (inner.phase && (is_exchange || !IsFixed(place))) place.phase = inner.phase;
  if (inner.layer >= 0) place.layer = inner.layer;
  if (inner.micro_batch >= 0) place.micro_batch = inner.micro_batch;
  if (inner.step >= 0 && place.step < 0) place.step = inner.step;
}

void FillGaps(const KernelPlace& other, KernelPlace& place) {
  if (!place.phase) place.phase = other.phase;
  if (place.layer < 0) place.layer = other.layer;
  if (place.micro_batch < 0) place.micro_batch = other.micro_batch;
  if (place.step < 0) place.step = other.step;
}

// An instant of a thread about which a kernel asks.
struct Question {
  int64_t thread, time_ns;
  int32_t kernel;
};

class Placer {
 public:
  explicit Placer(Recording& recording) : recording_(recording) {
    for (const std::string& name : recording.names.names()) {
      by_name_.push_back(PlaceByName(name));
      is_autograd_.push_back(IsAutograd(name));
      has_autograd_ = has_autograd_ || is_autograd_.back();
    }
    std::sort(recording.slices.begin(), recording.slices.end(),
              [](const RecordedSlice& a, const RecordedSlice& b) {
                if (a.thread != b.thread) return a.thread < b.thread;
                if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
                return a.end_ns > b.end_ns;
              });
  }

  void Place() {
    RememberForwards();
    AnswerOnHost();
    AnswerOnStreams();
    for (RecordedKernel& kernel : recording_.kernels) Finish(kernel);
  }

 private:
  // The slices that enclose an instant, from the outside to the inside, while time goes on.
  class Stack {
   public:
    Stack(const Placer& placer, size_t slice) : placer_(placer), next_(slice) {}

    const Context* At(const Question& question) {
      const std::vector<RecordedSlice>& slices = placer_.recording_.slices;
      for (; next_ < slices.size() && IsBefore(slices[next_], question); ++next_) Push(next_);
      Pop(question.thread, question.time_ns);
      return open_.empty() ? nullptr : &open_.back().second;
    }

   private:
    static bool IsBefore(const RecordedSlice& slice, const Question& question) {
      if (slice.thread != question.thread) return slice.thread < question.thread;
      return slice.start_ns <= question.time_ns;
    }

    // Closes what has ended before the instant, or is on another thread.
    void Pop(int64_t thread, int64_t time_ns) {
      const std::vector<RecordedSlice>& slices = placer_.recording_.slices;
      while (!open_.empty()) {
        const RecordedSlice& last = slices[open_.back().first];
        if (last.thread == thread && last.end_ns >= time_ns) break;
        open_.pop_back();
      }
    }

    void Push(size_t index) {
      const RecordedSlice& slice = placer_.recording_.slices[index];
      Pop(slice.thread, slice.start_ns);
      const Context outer = open_.empty() ? Context() : open_.back().second;
      open_.emplace_back(index, placer_.Inside(outer, index));
    }

    const Placer& placer_;
    size_t next_;
    std::vector<std::pair<size_t, Context>> open_;
  };

  Context Inside(Context context, size_t index) const {
    const RecordedSlice& slice = recording_.slices[index];
    if (is_autograd_[slice.name]) context.is_backward = true;
    Refine(by_name_[slice.name], context.place);
    context.slice = static_cast<int32_t>(index);
    if (slice.gemm >= 0) context.gemm = slice.gemm;
    if (slice.attention >= 0) context.attention = slice.attention;
    if (slice.collective >= 0) context.collective = slice.collective;
    if (context.is_backward && slice.sequence >= 0) {
      const auto found = forwards_.find(slice.sequence);
      if (found != forwards_.end()) FillGaps(found->second, context.place);
    }
    return context;
  }

  // Notes, by sequence number, where operators ran forward.
  void RememberForwards() {
    Stack stack(*this, 0);
    std::unordered_map<int64_t, KernelPlace> forwards;
    for (size_t i = 0; i < recording_.slices.size(); ++i) {
      const RecordedSlice& slice = recording_.slices[i];
      if (slice.external >= 0) by_external_.emplace(slice.external, i);
      if (slice.sequence < 0) continue;
      const Context* const context = stack.At({slice.thread, slice.start_ns, -1});
      if (context == nullptr || context->is_backward) continue;
      KernelPlace place = context->place;
      place.phase.reset();
      forwards.emplace(slice.sequence, place);
    }
    forwards_ = std::move(forwards);
  }

  void AnswerOnHost() {
    std::unordered_map<int64_t, size_t> launches;
    for (size_t i = 0; i < recording_.launches.size(); ++i) {
      launches.emplace(recording_.launches[i].correlation, i);
    }
    std::vector<Question> questions;
    for (size_t i = 0; i < recording_.kernels.size(); ++i) {
      const RecordedKernel& kernel = recording_.kernels[i];
      const auto kernel_index = static_cast<int32_t>(i);
      const auto launch = launches.find(kernel.correlation);
      const auto slice = by_external_.find(kernel.external);
      if (kernel.correlation >= 0 && launch != launches.end()) {
        const RecordedLaunch& by = recording_.launches[launch->second];
        questions.push_back({by.thread, by.time_ns, kernel_index});
      } else if (kernel.external >= 0 && slice != by_external_.end()) {
        const RecordedSlice& by = recording_.slices[slice->second];
        questions.push_back({by.thread, by.start_ns, kernel_index});
      }
    }
    Answer(questions);
  }

  void AnswerOnStreams() {
    std::vector<Question> questions;
    for (size_t i = 0; i < recording_.kernels.size(); ++i) {
      const RecordedKernel& kernel = recording_.kernels[i];
      questions.push_back(
          {KeyOfStream(kernel.device, kernel.stream), kernel.start_ns, static_cast<int32_t>(i)});
    }
    Answer(questions);
  }

  void Answer(std::vector<Question>& questions) {
    std::sort(questions.begin(), questions.end(), [](const Question& a, const Question& b) {
      if (a.thread != b.thread) return a.thread < b.thread;
      if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
      return a.kernel < b.kernel;
    });
    Stack stack(*this, 0);
    for (const Question& question : questions) {
      const Context* const context = stack.At(question);
      if (context == nullptr) continue;
      RecordedKernel& kernel = recording_.kernels[question.kernel];
      FillGaps(context->place, kernel.place);
      if (kernel.slice < 0) kernel.slice = context->slice;
      if (kernel.gemm < 0) kernel.gemm = context->gemm;
      if (kernel.attention < 0) kernel.attention = context->attention;
      if (kernel.collective < 0) kernel.collective = context->collective;
    }
  }

  void Finish(RecordedKernel& kernel) const {
    if (kernel.kind == KernelClass::kOther && kernel.gemm >= 0) kernel.kind = KernelClass::kGemm;
    if (kernel.kind != KernelClass::kGemm) kernel.gemm = -1;
    if (kernel.kind != KernelClass::kAttention) kernel.attention = -1;
    if (!IsCommunication(kernel.kind)) {
      kernel.collective = -1;
    } else if (kernel.collective >= 0) {
      kernel.kind = recording_.collectives[kernel.collective].kind;
    }
    if (kernel.place.phase == Phase::kOptimizer && kernel.kind == KernelClass::kElementwise) {
      kernel.kind = KernelClass::kOptimizer;
    }
    // Where autograd is recorded, an operator outside of it and of the optimizer runs forward.
    if (!kernel.place.phase && has_autograd_ && kernel.slice >= 0 &&
        recording_.names[recording_.slices[kernel.slice].name].starts_with("aten::")) {
      kernel.place.phase = Phase::kForward;
    }
  }

  Recording& recording_;
  std::vector<KernelPlace> by_name_;
  std::vector<bool> is_autograd_;
  bool has_autograd_ = false;
  std::unordered_map<int64_t, KernelPlace> forwards_;
  std::unordered_map<int64_t, size_t> by_external_;
};

}  // namespace

int64_t KeyOfStream(int32_t device, int32_t stream) {
  return -1 - ((static_cast<int64_t>(device) << 32) | static_cast<uint32_t>(stream));
}

void PlaceKernels(Recording& recording) { Placer(recording).Place(); }

}  // namespace stagecraft
