// DiffusionActor: one stage that balances its load with its neighbours, of which it knows only what
// their messages say.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>

namespace stagecraft {

// What an actor knows of a layer.
struct ActorLayer {
  double load = 0;    // The load, as in BalanceProblem.
  int64_t bytes = 0;  // What the stage that has it holds for it.
};

// The sums over neighbouring stages, or of one.
struct PathSums {
  double load = 0;
  double speed = 0;
  double least_speed = std::numeric_limits<double>::infinity();
  int stages = 0;
};

// What an actor tells a neighbour in a round.
struct ActorMessage {
  // These are the sender's; but in kSum, to the right, those of all stages up to the sender, and to
  // the left, those of all stages. They have no stages while they are not known.
  PathSums sums;
  int layers = 0;        // The number of layers of the sender.
  int calm = 0;          // For so many rounds the sender has heard of nothing that happened.
  ActorLayer edge;       // The layer nearest to the receiver.
  double next_load = 0;  // The load nearest to the receiver that is not 0.
  int64_t room = 0;      // The bytes that the sender could take.
};

enum class ActorPhase { kSum, kFlow, kPlace, kExchange, kDone };

// Actors work in rounds: each sends a message to each neighbour, and goes on when it has one of the
// same round from each. So it is never more than one round ahead of a neighbour. Four phases follow
// each other; every actor enters them after the same round:
//
// - kSum: the sums over all stages pass along the path and back, in 2 (stages - 1) rounds.
// - kFlow: first-order diffusion (Cybenko 1989; for unequal speeds Elsässer, Monien and Preis
// 2002).
//   Between neighbours flows min(v, v') (w / v - w' / v') / 3 each round, for loads w and speeds v,
//   until no flow is above min(v) / 3 * 0.001 / stages * (sum of w / sum of v). Then w / v of
//   neighbours with equal speeds differs by less than 0.1 % / stages of the average, and no stage
//   is further than 0.1 % from it. Layers stay where they are.
// - kPlace: layers cross a boundary until it is at the edge that is nearest to where all that has
//   flowed would move it. A layer crosses if at least half of it has flowed.
// - kExchange: a layer crosses a boundary if the larger of the two loads falls, by more than a
//   billionth.
//
// In the last two phases, even and odd boundaries take turns, one layer each, so that a stage deals
// with one neighbour at a time. A stage keeps at least one layer and never exceeds its memory.
//
// How all know that all are done: an actor at which something happens is not calm; any other is
// calm for a round longer than the least calm of itself and its neighbours were. If one is calm for
// as many rounds as there are stages, each stage has been calm once, and so has the whole path,
// which remains so. Then all of them are calm for exactly that long.
class DiffusionActor {
 public:
  // `limit_bytes` is what its layers may hold.
  DiffusionActor(bool has_left, bool has_right, double speed, int64_t limit_bytes,
                 std::deque<ActorLayer> layers);

  // Lets it begin with kPlace, for flows that are known.
  void StartPlacing(int stage, int stages, double flow_from_left, double flow_to_right);

  ActorPhase phase() const { return phase_; }
  int layers() const { return static_cast<int>(layers_.size()); }
  // Return after how many rounds of diffusion every stage was calm, and whether that was before
  // kMostFlowRounds.
  int64_t flow_rounds() const { return flow_rounds_; }
  bool has_settled() const { return has_settled_; }

  // Write this round's messages.
  void TellLeft(ActorMessage& message) const;
  void TellRight(ActorMessage& message) const;
  // Ends the round with the neighbours' messages; null where there is no neighbour.
  void EndRound(const ActorMessage* left, const ActorMessage* right);

  // Deals with the neighbour whose turn it is in a round of kPlace or kExchange. Returns whether a
  // layer crosses; the neighbour finds the same from this actor's message.
  bool DealWith(bool is_right, const ActorMessage& neighbour);
  // Goes on to the phase after kPlace or kExchange, as an actor does in the round in which it has
  // been calm for long enough.
  void EndPhase();

  // Returns the flow between two stages, in a round, up to which both are calm.
  static double MostCalmFlow(const PathSums& all);
  // A stage that is not calm becomes so only if flows are below the limit by this share. It is
  // above the rounding of a round, so that once all stages are calm, they remain so.
  static constexpr double kMargin = 1e-6;

  // Diffusion ends after so many rounds at the latest: speeds that differ a thousandfold may need
  // more than anyone waits for.
  static constexpr int64_t kMostFlowRounds = 10'000'000;

 private:
  // A side of a boundary, as both of its actors see it.
  struct Side {
    double load, speed;
    double next_load;
    int64_t room, bytes;  // The layer at the boundary has so many bytes.
    int layers;
  };

  void Tell(const PathSums& known, ActorMessage& message) const;
  void AddSums(const ActorMessage* left, const ActorMessage* right);
  void AddFlows(const ActorMessage* left, const ActorMessage* right);
  void MoveLayer(const ActorMessage* left, const ActorMessage* right);
  bool CrossesByFlow(const Side& from, const Side& to, double flow) const;
  double GainOfCrossing(const Side& from, const Side& to) const;
  int Crossing(const Side& left, const Side& right, double flow) const;
  void Give(bool to_right);
  void Take(const ActorLayer& layer, bool from_right);
  void StayCalm(bool is_calm, const ActorMessage* left, const ActorMessage* right);
  void Enter(ActorPhase phase);
  void AddUp();
  void FindNextLoads();

  const bool has_left_;
  const bool has_right_;
  const double speed_;
  const int64_t limit_bytes_;
  std::deque<ActorLayer> layers_;
  double load_ = 0;  // What it would be if loads could flow, in kFlow.
  int64_t bytes_ = 0;
  double next_left_ = 0, next_right_ = 0;  // The next_load of either message.

  ActorPhase phase_ = ActorPhase::kSum;
  int64_t round_ = 0;  // The round of the phase.
  int calm_ = 0;
  bool was_calm_ = false;   // It was calm in the last round.
  bool was_still_ = false;  // No layer crossed in the last round.
  int stage_ = 0;
  PathSums before_;  // The stages up to this one; it has no stages while that is not known.
  PathSums all_;     // All stages, in the same way.
  double most_flow_ = 0;
  double flow_from_left_ = 0, flow_to_right_ = 0;  // The whole flows, less the layers that crossed.
  int64_t flow_rounds_ = 0;
  bool has_settled_ = true;
};

}  // namespace stagecraft
