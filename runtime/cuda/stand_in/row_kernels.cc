#include "runtime/cuda/stand_in/row_kernels.h"

#include <algorithm>
#include <cmath>

namespace stagecraft::stand_in {
namespace {

using Row = std::vector<float>;

constexpr float kEpsilon = 1e-5f;
constexpr float kGeluScale = 0.7978845608f, kGeluCubic = 0.044715f;

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
float GeluTanh(float x) { return std::tanh(kGeluScale * (x + kGeluCubic * x * x * x)); }

template <typename Term>
float SumOf(size_t width, const Term& term) {
  double sum = 0;
  for (size_t i = 0; i < width; ++i) sum += term(i);
  return static_cast<float>(sum);
}

float InverseRms(const Row& in, size_t width) {
  const float squares = SumOf(width, [&](size_t i) { return in[i] * in[i]; });
  return 1 / std::sqrt(squares / static_cast<float>(width) + kEpsilon);
}

}  // namespace

const ElementKernel kAdd{2, 1, [](const float* in, float* out) { out[0] = in[0] + in[1]; }};
const ElementKernel kGelu{
    1, 1, [](const float* in, float* out) { out[0] = 0.5f * in[0] * (1 + GeluTanh(in[0])); }};
const ElementKernel kGeluBackward{2, 1, [](const float* in, float* out) {
                                    const float x = in[0], tanh = GeluTanh(x);
                                    const float slope = kGeluScale * (1 + 3 * kGeluCubic * x * x) *
                                                        (1 - tanh * tanh);
                                    out[0] = in[1] * 0.5f * (1 + tanh + x * slope);
                                  }};
const ElementKernel kSwiglu{
    2, 1, [](const float* in, float* out) { out[0] = in[0] * Sigmoid(in[0]) * in[1]; }};
const ElementKernel kSwigluBackward{3, 2, [](const float* in, float* out) {
                                      const float share = Sigmoid(in[0]);
                                      out[0] = in[2] * in[1] * share * (1 + in[0] * (1 - share));
                                      out[1] = in[2] * in[0] * share;
                                    }};
const ElementKernel kCast{1, 1, [](const float* in, float* out) { out[0] = in[0]; }};
const ElementKernel kHalve{1, 1, [](const float* in, float* out) { out[0] = 0.5f * in[0]; }};

const RowKernel kRmsNorm{1, [](const Row& in, const Row& weights, Row& out) {
                           const float scale = InverseRms(in, out.size());
                           for (size_t i = 0; i < out.size(); ++i)
                             out[i] = in[i] * scale * weights[i];
                         }};
const RowKernel kRmsNormBackward{
    2, [](const Row& in, const Row& weights, Row& out) {
      const size_t width = out.size();
      const float scale = InverseRms(in, width);
      const float along =
          SumOf(width, [&](size_t i) { return in[i] * in[width + i] * weights[i]; });
      for (size_t i = 0; i < width; ++i) {
        out[i] = scale * (in[width + i] * weights[i] -
                          in[i] * scale * scale * along / static_cast<float>(width));
      }
    }};
const RowKernel kLayerNorm{
    1, [](const Row& in, const Row& weights, Row& out) {
      const auto width = static_cast<float>(out.size());
      const float mean = SumOf(out.size(), [&](size_t i) { return in[i]; }) / width;
      const float squares =
          SumOf(out.size(), [&](size_t i) { return (in[i] - mean) * (in[i] - mean); });
      for (size_t i = 0; i < out.size(); ++i) {
        out[i] = (in[i] - mean) / std::sqrt(squares / width + kEpsilon) * weights[i];
      }
    }};
const RowKernel kSoftmax{1, [](const Row& in, const Row&, Row& out) {
                           const float most = *std::max_element(in.begin(), in.end());
                           const float sum =
                               SumOf(out.size(), [&](size_t i) { return std::exp(in[i] - most); });
                           for (size_t i = 0; i < out.size(); ++i) {
                             out[i] = std::exp(in[i] - most) / sum;
                           }
                         }};
const RowKernel kSoftmaxBackward{2, [](const Row& in, const Row&, Row& out) {
                                   const size_t width = out.size();
                                   const float along = SumOf(
                                       width, [&](size_t i) { return in[i] * in[width + i]; });
                                   for (size_t i = 0; i < width; ++i)
                                     out[i] = in[i] * (in[width + i] - along);
                                 }};

void Adam(const float* gradient, float* states, __nv_bfloat16* working, int64_t elements) {
  constexpr float kRate = 1e-4f, kBeta1 = 0.9f, kBeta2 = 0.95f, kTiny = 1e-8f, kDecay = 0.1f;
  for (int64_t i = 0; i < elements; ++i) {
    float& parameter = states[i];
    float& first = states[elements + i];
    float& second = states[2 * elements + i];
    first = kBeta1 * first + (1 - kBeta1) * gradient[i];
    second = kBeta2 * second + (1 - kBeta2) * gradient[i] * gradient[i];
    parameter -= kRate * (first / (std::sqrt(std::fabs(second)) + kTiny) + kDecay * parameter);
    working[i] = __nv_bfloat16(parameter);
  }
}

}  // namespace stagecraft::stand_in
