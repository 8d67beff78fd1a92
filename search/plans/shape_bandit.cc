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
  double rest = random.Uniform();
  size_t drawn = 0;  // the last of all where shares add up to less than 1
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) continue;
    drawn = i;
    rest -= shares[i];
    if (rest < 0) break;
  }
  return drawn;
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
  constexpr double kLeastDeviation = 1e-6;  // of rewards that are all alike
  const double gain = off / (std::sqrt(variance_) + kLeastDeviation);
  const std::vector<double> shares = Shares();
  for (size_t i = 0; i < logits_.size(); ++i) {
    if (logits_[i] == kLeft) continue;
    logits_[i] += rate_ * gain * ((i == shape ? 1 : 0) - shares[i]);
  }
}

}  // namespace stagecraft
