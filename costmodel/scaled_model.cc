#include "costmodel/scaled_model.h"

#include <algorithm>
#include <cmath>

namespace stagecraft {
namespace {

Duration Scaled(Duration time, double share) {
  return Duration::RoundedNanoseconds(std::ceil(static_cast<double>(time.ns()) * share));
}

}  // namespace

double Speeds::LeastShare() const { return 1 / std::max({1.0, compute, intra, inter}); }
double Speeds::MostShare() const { return 1 / std::min({1.0, compute, intra, inter}); }

Op ScaledModel::OnScaledLinks(const Op& op) const {
  Op scaled = op;
  if (!IsCollective(op.kind)) return scaled;
  scaled.fabric.intra.bandwidth = speeds_.intra * op.fabric.intra.bandwidth;
  scaled.fabric.inter.bandwidth = speeds_.inter * op.fabric.inter.bandwidth;
  scaled.sync.server.bandwidth = speeds_.inter * op.sync.server.bandwidth;
  scaled.sync.worker.bandwidth = speeds_.inter * op.sync.worker.bandwidth;
  return scaled;
}

std::vector<Estimate> ScaledModel::Predict(std::span<const Op> ops, const Device& device) const {
  std::vector<Estimate> estimates = model_.Predict(ops, device);
  if (speeds_.compute != 1) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (IsCollective(ops[i].kind)) continue;
      estimates[i].time = Scaled(estimates[i].time, 1 / speeds_.compute);
    }
  }
  if (!ScalesLinks()) return estimates;
  std::vector<Op> scaled;
  for (const Op& op : ops) scaled.push_back(OnScaledLinks(op));
  std::vector<Estimate> others = model_.Predict(scaled, device);
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!IsCollective(ops[i].kind)) continue;
    const Duration least = Scaled(estimates[i].time, speeds_.LeastShare());
    const Duration most = Scaled(estimates[i].time, speeds_.MostShare());
    others[i].time = std::clamp(others[i].time, least, most);
    others[i].host = estimates[i].host;
    estimates[i] = others[i];
  }
  return estimates;
}

}  // namespace stagecraft
