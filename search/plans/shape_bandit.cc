#include "search/plans/shape_bandit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stagecraft {
namespace {

constexpr double kLeft = -std::numeric_limits<double>::infinity();

}  // namespace

size_t ShapeBandit::Draw(Random& random) const {
  const std::vector<double> shares = Shares();
  double left = random.Uniform();
  size_t last = 0;  // that is not left
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) continue;
    last = i;
    left -= shares[i];
    if (left < 0) break;
  }
  return last;
}

std::vector<double> ShapeBandit::Shares() const {
  const double greatest = *std::max_element(logits_.begin(), logits_.end());
  std::vector<double> shares;
  for (const double logit : logits_) shares.push_back(std::exp(logit - greatest));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

void ShapeBandit::Leave(size_t shape) { logits_[shape] = kLeft; }

void ShapeBandit::Renew(size_t shape) {
  const double greatest = *std::max_element(logits_.begin(), logits_.end());
  logits_[shape] = greatest == kLeft ? 0 : greatest;
}

void ShapeBandit::Learn(size_t shape, double reward) {
  constexpr double kKeep = 0.9;  // of mean and variance, from one batch to the next
  const double off = count_ == 0 ? 0 : reward - mean_;
  mean_ = count_ == 0 ? reward : mean_ + (1 - kKeep) * off;
  variance_ = kKeep * variance_ + (1 - kKeep) * off * off;
  ++count_;
  const double gain = off / (std::sqrt(variance_) + 1e-6);
  const std::vector<double> shares = Shares();
  for (size_t i = 0; i < logits_.size(); ++i) {
    if (logits_[i] == kLeft) continue;
    logits_[i] += rate_ * gain * ((i == shape ? 1 : 0) - shares[i]);
  }
}

}  // namespace stagecraft
