#include "search/balance/diffusion_actor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stagecraft {
namespace {

// What flows from one stage to the next in a round.
double Flow(double load, double speed, double next_load, double next_speed) {
  return std::min(speed, next_speed) / 3 * (load / speed - next_load / next_speed);
}

constexpr double kTolerance = 0.001;  // The share of the average.
constexpr double kLeastGain = 1e-9;   // It is above the rounding of sums.

}  // namespace

DiffusionActor::DiffusionActor(bool has_left, bool has_right, double speed, int64_t limit_bytes,
                               std::deque<ActorLayer> layers)
    : has_left_(has_left),
      has_right_(has_right),
      speed_(speed),
      limit_bytes_(limit_bytes),
      layers_(std::move(layers)) {
  AddUp();
  if (!has_left_) {
    before_ = {load_, speed_, speed_, 1};
  }
}

double DiffusionActor::MostCalmFlow(const PathSums& all) {
  return all.least_speed / 3 * kTolerance / all.stages * (all.load / all.speed);
}

void DiffusionActor::StartPlacing(int stage, int stages, double flow_from_left,
                                  double flow_to_right) {
  stage_ = stage;
  all_.stages = stages;
  flow_from_left_ = flow_from_left;
  flow_to_right_ = flow_to_right;
  Enter(ActorPhase::kPlace);
}

void DiffusionActor::AddUp() {
  load_ = 0;
  bytes_ = 0;
  for (const ActorLayer& layer : layers_) {
    load_ += layer.load;
    bytes_ += layer.bytes;
  }
  FindNextLoads();
}

// Finds the loads that are nearest to either end, among layers that may have none.
void DiffusionActor::FindNextLoads() {
  const auto has_load = [](const ActorLayer& layer) { return layer.load != 0; };
  const auto left = std::find_if(layers_.begin(), layers_.end(), has_load);
  const auto right = std::find_if(layers_.rbegin(), layers_.rend(), has_load);
  next_left_ = left != layers_.end() ? left->load : 0;
  next_right_ = right != layers_.rend() ? right->load : 0;
}

void DiffusionActor::Tell(const PathSums& known, ActorMessage& message) const {
  message.sums = phase_ == ActorPhase::kSum ? known : PathSums{load_, speed_, speed_, 1};
  message.layers = layers();
  message.calm = calm_;
  message.room = limit_bytes_ - bytes_;
}

void DiffusionActor::TellLeft(ActorMessage& message) const {
  Tell(all_, message);
  message.edge = layers_.front();
  message.next_load = next_left_;
}

void DiffusionActor::TellRight(ActorMessage& message) const {
  Tell(before_, message);
  message.edge = layers_.back();
  message.next_load = next_right_;
}

void DiffusionActor::EndRound(const ActorMessage* left, const ActorMessage* right) {
  switch (phase_) {
    case ActorPhase::kSum:
      AddSums(left, right);
      break;
    case ActorPhase::kFlow:
      AddFlows(left, right);
      break;
    case ActorPhase::kPlace:
    case ActorPhase::kExchange:
      MoveLayer(left, right);
      break;
    case ActorPhase::kDone:
      break;
  }
}

void DiffusionActor::Enter(ActorPhase phase) {
  phase_ = phase;
  round_ = 0;
  calm_ = 0;
  was_calm_ = was_still_ = false;
}

void DiffusionActor::AddSums(const ActorMessage* left, const ActorMessage* right) {
  if (before_.stages == 0 && left->sums.stages > 0) {
    before_ = left->sums;
    before_.load += load_;
    before_.speed += speed_;
    before_.least_speed = std::min(before_.least_speed, speed_);
    ++before_.stages;
  }
  if (!has_right_) all_ = before_;
  if (has_right_) all_ = right->sums;
  ++round_;
  if (all_.stages == 0 || round_ < 2 * (all_.stages - 1)) return;
  stage_ = before_.stages - 1;
  most_flow_ = MostCalmFlow(all_);
  Enter(ActorPhase::kFlow);
}

void DiffusionActor::AddFlows(const ActorMessage* left, const ActorMessage* right) {
  const double in = has_left_ ? Flow(left->sums.load, left->sums.speed, load_, speed_) : 0;
  const double out = has_right_ ? Flow(load_, speed_, right->sums.load, right->sums.speed) : 0;
  load_ += in - out;
  flow_from_left_ += in;
  flow_to_right_ += out;
  const double flow = std::max(std::abs(in), std::abs(out));
  StayCalm(flow <= most_flow_ * (was_calm_ ? 1 : 1 - kMargin), left, right);
  ++round_;
  has_settled_ = calm_ >= all_.stages;
  if (!has_settled_ && round_ < kMostFlowRounds) return;
  flow_rounds_ = has_settled_ ? round_ - all_.stages : round_;
  AddUp();
  Enter(ActorPhase::kPlace);
}

void DiffusionActor::StayCalm(bool is_calm, const ActorMessage* left, const ActorMessage* right) {
  was_calm_ = is_calm;
  if (left != nullptr) calm_ = std::min(calm_, left->calm);
  if (right != nullptr) calm_ = std::min(calm_, right->calm);
  calm_ = is_calm ? calm_ + 1 : 0;
}

bool DiffusionActor::CrossesByFlow(const Side& from, const Side& to, double flow) const {
  // A layer without load crosses only ahead of one with a load.
  return from.layers > 1 && from.bytes <= to.room && from.next_load > 0 &&
         from.next_load / 2 < flow;
}

double DiffusionActor::GainOfCrossing(const Side& from, const Side& to) const {
  if (from.layers < 2 || from.bytes > to.room || from.next_load == 0) return 0;
  const double larger = std::max(from.load / from.speed, to.load / to.speed);
  const double then =
      std::max((from.load - from.next_load) / from.speed, (to.load + from.next_load) / to.speed);
  return larger - then > kLeastGain * larger ? larger - then : 0;
}

// Returns which way a layer crosses: 1 to the right, -1 to the left, 0 neither.
int DiffusionActor::Crossing(const Side& left, const Side& right, double flow) const {
  if (phase_ == ActorPhase::kPlace) {
    if (CrossesByFlow(left, right, flow)) return 1;
    return CrossesByFlow(right, left, -flow) ? -1 : 0;
  }
  const double rightward = GainOfCrossing(left, right);
  const double leftward = GainOfCrossing(right, left);
  if (rightward <= 0 && leftward <= 0) return 0;
  return rightward >= leftward ? 1 : -1;
}

// However many layers come and go, the rounding error of the load stays far below kLeastGain.
void DiffusionActor::Give(bool to_right) {
  const ActorLayer& layer = to_right ? layers_.back() : layers_.front();
  load_ -= layer.load;
  bytes_ -= layer.bytes;
  to_right ? layers_.pop_back() : layers_.pop_front();
  FindNextLoads();
}

void DiffusionActor::Take(const ActorLayer& layer, bool from_right) {
  load_ += layer.load;
  bytes_ += layer.bytes;
  from_right ? layers_.push_back(layer) : layers_.push_front(layer);
  FindNextLoads();
}

bool DiffusionActor::DealWith(bool is_right, const ActorMessage& neighbour) {
  const ActorLayer edge = is_right ? layers_.back() : layers_.front();
  const Side own{load_,      speed_,  is_right ? next_right_ : next_left_, limit_bytes_ - bytes_,
                 edge.bytes, layers()};
  const Side their{neighbour.sums.load, neighbour.sums.speed, neighbour.next_load,
                   neighbour.room,      neighbour.edge.bytes, neighbour.layers};
  double& flow = is_right ? flow_to_right_ : flow_from_left_;
  const int crossing = is_right ? Crossing(own, their, flow) : Crossing(their, own, flow);
  if (crossing == 0) return false;
  const bool gives = (crossing > 0) == is_right;
  flow -= crossing * (gives ? edge.load : neighbour.edge.load);
  gives ? Give(is_right) : Take(neighbour.edge, is_right);
  return true;
}

void DiffusionActor::MoveLayer(const ActorMessage* left, const ActorMessage* right) {
  // Boundary s lies behind stage s.
  const bool is_right = (stage_ + round_) % 2 == 0;
  const ActorMessage* const other = is_right ? right : left;
  const bool crosses = other != nullptr && DealWith(is_right, *other);
  // Both kinds of boundaries must have had their turn without any crossing.
  StayCalm(!crosses && was_still_, left, right);
  was_still_ = !crosses;
  ++round_;
  if (calm_ >= all_.stages) EndPhase();
}

void DiffusionActor::EndPhase() {
  Enter(phase_ == ActorPhase::kPlace ? ActorPhase::kExchange : ActorPhase::kDone);
}

}  // namespace stagecraft
