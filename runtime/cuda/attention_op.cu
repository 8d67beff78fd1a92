#include <optional>
#include <utility>
#include <vector>

#include "runtime/cuda/attention_graph.h"
#include "runtime/cuda/attention_op.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/cudnn_graph.h"
#include "runtime/cuda/random_fill.h"

namespace stagecraft {
namespace {

// The device that the library's handle is of.
Descriptor DeviceOf(Cudnn& library, cudaStream_t stream) {
  Descriptor device(library, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.Set(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, library.HandleFor(stream)).Finalize();
  return device;
}

class AttentionOp final : public DeviceOp {
 public:
  AttentionOp(const Op& op, std::shared_ptr<Cudnn> library, const AttentionOptions& options)
      : op_(op), graph_(std::move(library)), arguments_(BuildAttention(op, graph_)) {
    plan_ = graph_.MakePlan(DeviceOf(graph_.cudnn(), options.stream), options.multiprocessors);
    if (!plan_) throw Unsupported("cuDNN has no fused attention of some shapes");
    const int64_t workspace = WorkspaceOf(graph_.cudnn(), *plan_);
    if (workspace > 0) workspace_ = DeviceMemory(static_cast<size_t>(workspace));
    for (const AttentionArguments::Block& block : arguments_.blocks) Place(block);
  }

  size_t operand_bytes() const override { return bytes_; }

  void Fill(std::byte* operands, cudaStream_t stream) override {
    for (size_t i = 0; i < offsets_.size(); ++i) {
      const AttentionArguments::Block& block = arguments_.blocks[i];
      const DType dtype = block.is_fp32 ? DType::kFp32 : op_.dtype;
      FillRandom(operands + offsets_[i], block.bytes / ElementSize(dtype), dtype, i, stream);
    }
  }

  void Launch(std::byte* operands, cudaStream_t stream) override {
    Cudnn& cudnn = graph_.cudnn();
    std::vector<int64_t> uids;
    std::vector<void*> pointers;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      uids.push_back(arguments_.blocks[i].uid);
      pointers.push_back(operands + offsets_[i]);
    }
    for (AttentionArguments::Number& number : arguments_.numbers) {
      uids.push_back(number.uid);
      pointers.push_back(&number.value);
    }
    void* const workspace = workspace_.get();
    Descriptor given(cudnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    given.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids)
        .SetArray(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                  static_cast<int64_t>(pointers.size()), pointers.data())
        .Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace)
        .Finalize();
    cudnn.Execute(plan_->get(), given.get(), stream);
  }

 private:
  void Place(const AttentionArguments::Block& block) {
    for (size_t i = 0; i < offsets_.size(); ++i) {
      if (arguments_.blocks[i].uid == block.same_as) return offsets_.push_back(offsets_[i]);
    }
    offsets_.push_back(bytes_);
    bytes_ += Aligned(static_cast<size_t>(block.bytes));
  }

  Op op_;
  CudnnGraph graph_;
  AttentionArguments arguments_;
  std::optional<Descriptor> plan_;
  DeviceMemory workspace_;
  std::vector<size_t> offsets_;  // of the blocks
  size_t bytes_ = 0;
};

}  // namespace

std::shared_ptr<Cudnn> LoadCudnn() { return std::make_shared<Cudnn>(); }

std::string VersionOf(const Cudnn& library) {
  const size_t version = library.GetVersion();
  return "cudnn " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

std::unique_ptr<DeviceOp> MakeAttentionOp(const ProfileCase& one, std::shared_ptr<Cudnn> library,
                                          const AttentionOptions& options) {
  if (one.op.dtype != DType::kBf16 && one.op.dtype != DType::kFp16) {
    throw Unsupported(std::string("no fused attention of ") + Name(one.op.dtype));
  }
  return std::make_unique<AttentionOp>(one.op, std::move(library), options);
}

}  // namespace stagecraft
