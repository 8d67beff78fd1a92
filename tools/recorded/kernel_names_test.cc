#include "tools/recorded/kernel_names.h"

#include <gtest/gtest.h>

#include "tools/recorded/gemm_shapes.h"

namespace stagecraft {
namespace {

TEST(KernelNamesTest, KernelsOfUsualLibrariesAreOfTheirClass) {
  const std::pair<const char*, KernelClass> kernels[] = {
      {"nvjet_hsh_256x128_64x4_2x1_v_bz_NNT", KernelClass::kGemm},
      {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize160x128x32", KernelClass::kGemm},
      {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn", KernelClass::kGemm},
      {"void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_relu>", KernelClass::kGemm},
      {"Cijk_Ailk_Bljk_BBH_MT128x128x32_MI16x16x16x1", KernelClass::kGemm},
      {"void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<>", KernelClass::kAttention},
      {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", KernelClass::kAttention},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop", KernelClass::kAttention},
      {"void cudnn::winograd_nonfused::winogradForwardData4x4", KernelClass::kConvolution},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel", KernelClass::kNorm},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4>", KernelClass::kSoftmax},
      {"void at::native::vectorized_elementwise_kernel<4, GeluFunctor>", KernelClass::kElementwise},
      {"triton_poi_fused_mul_silu_3", KernelClass::kElementwise},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<>",
       KernelClass::kOptimizer},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       KernelClass::kAllReduce},
      {"ncclKernel_ReduceScatter_RING_LL128_Sum_half(ncclWorkElem)", KernelClass::kReduceScatter},
      {"ncclDevKernel_AllGather_RING_LL", KernelClass::kAllGather},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", KernelClass::kSendRecv},
      {"my_secret_kernel", KernelClass::kOther},
  };
  for (const auto& [name, kind] : kernels) EXPECT_EQ(ClassOfKernel(name), kind) << name;
}

TEST(KernelNamesTest, RangesTellPhaseLayerMicroBatchAndStep) {
  EXPECT_EQ(PlaceByName("ProfilerStep#12").step, 12);
  EXPECT_EQ(PlaceByName("iteration 3").step, 3);
  EXPECT_EQ(PlaceByName("Optimizer.step#AdamW.step").step, -1);
  EXPECT_EQ(PlaceByName("Optimizer.step#AdamW.step").phase, Phase::kOptimizer);
  EXPECT_EQ(PlaceByName("Optimizer.zero_grad#AdamW.zero_grad").phase, std::nullopt);
  EXPECT_EQ(PlaceByName("forward-compute").phase, Phase::kForward);
  EXPECT_EQ(PlaceByName("backward-send").phase, Phase::kSendBackward);
  EXPECT_EQ(PlaceByName("forward_backward_func").phase, std::nullopt);
  EXPECT_EQ(PlaceByName("FSDP::post_backward_reduce").phase, Phase::kGradReduce);
  EXPECT_EQ(PlaceByName("autograd::engine::evaluate_function: MmBackward0").phase,
            Phase::kBackward);
  EXPECT_EQ(PlaceByName("model.layers.17.mlp").layer, 17);
  EXPECT_EQ(PlaceByName("layer0.mlp.fc1").layer, 0);
  EXPECT_EQ(PlaceByName("nn.Module: LlamaDecoderLayer_3").layer, 3);
  EXPECT_EQ(PlaceByName("transformer.h.5.attn").layer, 5);
  EXPECT_EQ(PlaceByName("forward micro-batch 7").micro_batch, 7);
  EXPECT_EQ(PlaceByName("F mb3").micro_batch, 3);
  EXPECT_EQ(PlaceByName("aten::layer_norm").layer, -1);
}

TEST(KernelNamesTest, OperatorsTellTheSizesOfTheirProducts) {
  using Dims = std::vector<std::vector<int64_t>>;
  const std::vector<std::string> types(3, "c10::BFloat16");
  EXPECT_EQ(GemmOfOperator("aten::mm", Dims{{4096, 8192}, {8192, 3584}}, types),
            Op::Gemm(DType::kBf16, 4096, 3584, 8192));
  EXPECT_EQ(GemmOfOperator("aten::addmm", Dims{{3584}, {4096, 8192}, {8192, 3584}}, types),
            Op::Gemm(DType::kBf16, 4096, 3584, 8192));
  EXPECT_EQ(GemmOfOperator("aten::bmm", Dims{{16, 64, 32}, {16, 32, 64}}, types),
            Op::Gemm(DType::kBf16, 64, 64, 32, 16));
  EXPECT_EQ(GemmOfOperator("aten::mm", Dims{{4096, 8192}, {4096, 3584}}, types), std::nullopt);
  EXPECT_EQ(GemmOfOperator("aten::mm", Dims{{4096, 8192}, {8192, 0}}, types), std::nullopt);
  // More rows than 64 bits count.
  const int64_t many = (int64_t{1} << 40) - 1;
  EXPECT_EQ(GemmOfOperator("aten::matmul", Dims{{many, many, 4}, {4, 4}}, types), std::nullopt);
  EXPECT_EQ(GemmOfOperator("aten::add", Dims{{4096, 8192}, {8192, 3584}}, types), std::nullopt);
}

}  // namespace
}  // namespace stagecraft
