#include "runtime/cuda/attention_op.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/cuda/attention_graph.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/cudnn_graph.h"
#include "runtime/cuda/random_fill.h"

namespace stagecraft {
namespace {

// Returns a description of the device to which the library's handle belongs.
Descriptor DeviceOf(const Cudnn& library, cudnnHandle_t handle) {
  Descriptor device(library, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.Set(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, handle).Finalize();
  return device;
}

}  // namespace

// A compiled attention. Several runs of it may be in flight at once, since a run writes only to its
// arguments.
struct AttentionPlan {
  AttentionPlan(const Op& op, std::shared_ptr<Cudnn> library, cudnnHandle_t handle,
                int multiprocessors)
      : graph(std::move(library)), arguments(BuildAttention(op, graph)) {
    plan = graph.MakePlan(DeviceOf(graph.cudnn(), handle), multiprocessors);
    if (!plan) throw AttentionUnsupported("cuDNN has no fused attention of some shapes");
    workspace = static_cast<size_t>(WorkspaceOf(graph.cudnn(), *plan));
  }

  CudnnGraph graph;
  AttentionArguments arguments;
  std::optional<Descriptor> plan;
  size_t workspace = 0;  // bytes
};

namespace {

class AttentionOp final : public DeviceOp {
 public:
  AttentionOp(const Op& op, std::shared_ptr<const AttentionPlan> plan)
      : dtype_(op.dtype), plan_(std::move(plan)) {
    if (plan_->workspace > 0) workspace_ = DeviceMemory(plan_->workspace);
    for (const AttentionArguments::Block& block : blocks()) Place(block);
    for (const AttentionArguments::Number& number : plan_->arguments.numbers) {
      numbers_.push_back(number.value);
    }
  }

  size_t operand_bytes() const override { return bytes_; }

  void Fill(std::byte* operands, cudaStream_t stream) override {
    for (size_t i = 0; i < offsets_.size(); ++i) {
      const AttentionArguments::Block& block = blocks()[i];
      const DType dtype = block.is_fp32 ? DType::kFp32 : dtype_;
      FillRandom(operands + offsets_[i], block.bytes * 8 / ElementBits(dtype), dtype, i, stream);
    }
  }

  void Launch(std::byte* operands, cudaStream_t stream) override {
    Cudnn& cudnn = plan_->graph.cudnn();
    std::vector<int64_t> uids;
    std::vector<void*> pointers;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      uids.push_back(blocks()[i].uid);
      pointers.push_back(operands + offsets_[i]);
    }
    for (size_t i = 0; i < numbers_.size(); ++i) {
      uids.push_back(plan_->arguments.numbers[i].uid);
      pointers.push_back(&numbers_[i]);
    }
    void* const workspace = workspace_.get();
    Descriptor given(cudnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    given.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids)
        .SetArray(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                  static_cast<int64_t>(pointers.size()), pointers.data())
        .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace)
        .Finalize();
    const CudnnStream ready(cudnn, stream);
    cudnn.Check(cudnn.BackendExecute(ready.handle(), plan_->plan->get(), given.get()),
                "cudnnBackendExecute");
  }

 private:
  const std::vector<AttentionArguments::Block>& blocks() const { return plan_->arguments.blocks; }

  void Place(const AttentionArguments::Block& block) {
    for (size_t i = 0; i < offsets_.size(); ++i) {
      if (blocks()[i].uid == block.same_as) return offsets_.push_back(offsets_[i]);
    }
    offsets_.push_back(bytes_);
    bytes_ += Aligned(static_cast<size_t>(block.bytes));
  }

  DType dtype_;
  std::shared_ptr<const AttentionPlan> plan_;
  DeviceMemory workspace_;
  std::vector<float> numbers_;
  std::vector<size_t> offsets_;  // by block, in the operands
  size_t bytes_ = 0;
};

}  // namespace

class AttentionLibrary {
 public:
  const Cudnn& cudnn() const { return *cudnn_; }

  std::shared_ptr<const AttentionPlan> PlanOf(const Op& op, const AttentionOptions& options) {
    const CudnnStream ready(*cudnn_, options.stream);
    const Key key = {op, options.multiprocessors, ready.context()};
    std::erase_if(plans_, [](const Made& made) { return made.plan.expired(); });
    const auto found = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const Made& made) { return made.key == key; });
    if (found != plans_.end()) return found->plan.lock();
    const auto plan =
        std::make_shared<const AttentionPlan>(op, cudnn_, ready.handle(), options.multiprocessors);
    plans_.push_back({key, plan});
    return plan;
  }

 private:
  struct Key {
    Op op;
    int multiprocessors;
    CUcontext context;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Made {
    Key key;
    std::weak_ptr<const AttentionPlan> plan;  // expired when no op uses it any more
  };

  std::shared_ptr<Cudnn> cudnn_ = std::make_shared<Cudnn>();
  std::vector<Made> plans_;
};

std::shared_ptr<AttentionLibrary> LoadAttentionLibrary() {
  return std::make_shared<AttentionLibrary>();
}

std::string VersionOf(const AttentionLibrary& library) {
  const size_t version = library.cudnn().GetVersion();
  return "cudnn " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

std::unique_ptr<DeviceOp> MakeAttentionOp(const ProfileCase& one,
                                          std::shared_ptr<AttentionLibrary> library,
                                          const AttentionOptions& options) {
  if (one.op.dtype != DType::kBf16 && one.op.dtype != DType::kFp16) {
    throw AttentionUnsupported(std::string("no fused attention of ") + Name(one.op.dtype));
  }
  return std::make_unique<AttentionOp>(one.op, library->PlanOf(one.op, options));
}

}  // namespace stagecraft
