// TaskTag: the names of the parts of a Schedule, namely its phases, ranks and lanes.
#pragma once

#include <cstdint>

namespace stagecraft {

using TaskId = int32_t;
using OpSequenceId = int32_t;  // index of a distinct sequence of ops
using OpId = int32_t;          // index of a distinct op

// One serial resource: a device's compute stream, or one direction of an interface.
enum class Lane : int32_t {};
constexpr int32_t Index(Lane lane) { return static_cast<int32_t>(lane); }

enum class Phase : uint8_t {
  kForward,
  kBackward,       // gradients of inputs and of weights
  kBackwardInput,  // if a pipeline schedule runs the two separately
  kBackwardWeight,
  kSendForward,   // activations to the next stage
  kSendBackward,  // gradients to the previous stage
  kContext,       // key/value exchange of context parallelism
  kGradReduce,
  kGradNorm,
  kOptimizer,
  kParamGather,
  kOffload,             // what a forward saved, to the host
  kFetch,               // and the way back
  kVocabularyExchange,  // among all stages, if each holds a part of the vocabulary
  kExpertExchange,      // of tokens between experts, of a pass that runs beside another one
};
inline constexpr int kPhaseCount = static_cast<int>(Phase::kExpertExchange) + 1;
const char* Name(Phase phase);
// Whether it takes gradients from the next part and hands them on to the previous one.
constexpr bool IsBackward(Phase phase) {
  return phase == Phase::kBackward || phase == Phase::kBackwardInput;
}
// Whether it computes the weight gradients of a micro-batch.
constexpr bool MakesWeightGradients(Phase phase) {
  return phase == Phase::kBackward || phase == Phase::kBackwardWeight;
}
// Whether it is a pass through a chunk of the network.
constexpr bool IsPass(Phase phase) { return phase <= Phase::kBackwardWeight; }

// How an op of an op sequence runs, as bits.
enum StepFlags : uint8_t {
  kOverlapsNext = 1,  // beside the op after it
  kContextGroup = 2,  // a collective of context parallelism, not of tensor parallelism
  kExpertGroup = 4,   // a collective of expert parallelism
  kWeightGradient = 8,
  kOnHost = 16,  // work of the host or a copy to or from it, which does not slow with the device
  kAllStepFlags = 31,
};

// Where a task comes from; -1 for fields that do not apply.
struct Tag {
  int32_t rank = -1;  // index into ranks()
  int16_t stage = -1;
  int16_t chunk = -1;
  int32_t micro_batch = -1;
  Phase phase = Phase::kForward;
  uint8_t segment = 0;  // part of a divided pass
};

enum class LaneKind : uint8_t {
  kCompute,
  kSendNext,
  kSendPrevious,
  kData,
  kContext,
  kHostOut,  // the two directions of the port to the host
  kHostIn,
  kVocabulary,
  kExpert,
};
const char* Name(LaneKind kind);

struct LaneInfo {
  int32_t rank = -1;
  LaneKind kind = LaneKind::kCompute;
};

// A simulated rank: one device, or the representative of `multiplicity` devices that do the same at
// the same time.
struct RankInfo {
  int32_t device = -1;
  int16_t stage = -1;
  int32_t replica = -1;
  int32_t multiplicity = 1;
};

}  // namespace stagecraft
