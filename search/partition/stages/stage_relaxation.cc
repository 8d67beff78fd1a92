#include "search/partition/stages/stage_relaxation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "search/learning/tape_operations.h"

namespace stagecraft {
namespace {

constexpr double kSteepest = 30;    // limit of the exponents of energies
constexpr double kHardFrom = 0.66;  // as a share of the steps
constexpr double kGamma = 0.3;      // of the smooth dynamic programme, whose energies are about 1

int LikeliestColumn(const Matrix& logits, int row) {
  Eigen::Index column = 0;
  logits.row(row).maxCoeff(&column);
  return static_cast<int>(column);
}

Matrix Hardened(const Matrix& shares) {
  Matrix hard = Matrix::Zero(shares.rows(), shares.cols());
  for (int row = 0; row < shares.rows(); ++row) hard(row, LikeliestColumn(shares, row)) = 1;
  return hard;
}

int Sum(const std::vector<int>& counts) { return std::accumulate(counts.begin(), counts.end(), 0); }

// Returns drawn logits of which the greatest usually gives a stage its share of the devices.
Matrix DrawDegrees(const StageDevices& devices, int stages,
                   const std::vector<StageReplicas>& choices, Random& random) {
  const double share = static_cast<double>(Sum(devices.counts)) / stages;
  Matrix drawn(stages, choices.size());
  for (int stage = 0; stage < stages; ++stage) {
    for (size_t choice = 0; choice < choices.size(); ++choice) {
      const double off = std::abs(std::log(choices[choice].replicas / share));
      drawn(stage, choice) = 2 * random.Uniform() - 2 * off;
    }
  }
  return drawn;
}

double Between(double from, double to, double progress) {
  return from * std::pow(to / from, progress);
}

}  // namespace

StageRelaxation::StageRelaxation(StageDevices devices, const PieceTimes& times, int stages,
                                 const RelaxationOptions& options, double best, Random random,
                                 const StopSign& stop)
    : devices_(std::move(devices)),
      times_(times),
      stages_(stages),
      options_(options),
      random_(random),
      degrees_(DrawDegrees(devices_, stages, times.choices(), random_)),
      boundaries_(Matrix::Zero(stages - 1, times.pieces().length - 1)),
      adam_({&degrees_, &boundaries_}, {.rate = options.rate}) {
  stop.Check();
  StartBoundaries(best);
}

void StageRelaxation::StartBoundaries(double best) {
  Tape tape;
  const Mask all = Mask::Ones(stages_, degrees_.value.cols());
  const Variable degrees = Softmax(tape, tape.Constant(degrees_.value), all);
  const double heat = options_.blunt * best;
  const Matrix exponents = ((tape.value(degrees) * times_.scores()).array() - best).matrix() / heat;
  const Matrix energies =
      exponents.unaryExpr([](double x) { return std::exp(std::min(x, kSteepest)); });
  const Pieces& pieces = times_.pieces();
  const Matrix marginals = CutMarginals(energies, pieces, kGamma);
  constexpr double kLeast = 1e-3;  // so that no position is ruled out from the start
  for (int stage = 0; stage + 1 < stages_; ++stage) {
    for (int end = 1; end < pieces.length; ++end) {
      double share = 0;
      for (int begin = 0; begin < end; ++begin) share += marginals(stage, pieces.index(begin, end));
      boundaries_.value(stage, end - 1) = std::log(share + kLeast);
    }
  }
}

Variable StageRelaxation::Shares(Tape& tape, Variable logits, double heat, bool is_hard) {
  Matrix noise(tape.value(logits).rows(), tape.value(logits).cols());
  for (Eigen::Index row = 0; row < noise.rows(); ++row) {
    for (Eigen::Index column = 0; column < noise.cols(); ++column) {
      const double uniform = std::max(random_.Uniform(), 1e-300);
      noise(row, column) = -std::log(-std::log(uniform));
    }
  }
  const Mask all = Mask::Ones(noise.rows(), noise.cols());
  const Variable noisy = Add(tape, logits, tape.Constant(std::move(noise)));
  const Variable soft = Softmax(tape, Scale(tape, noisy, 1 / heat), all);
  return is_hard ? StraightThrough(tape, soft, Hardened(tape.value(soft))) : soft;
}

// Returns the probabilities of boundaries, stages + 1 x length + 1: the first stage begins at 0,
// the last ends at the end.
Variable StageRelaxation::Boundaries(Tape& tape, double heat, bool is_hard) {
  const int length = times_.pieces().length;
  Matrix first = Matrix::Zero(1, length + 1);
  Matrix last = first;
  first(0, 0) = 1;
  last(0, length) = 1;
  std::vector<Variable> rows = {tape.Constant(std::move(first))};
  if (stages_ > 1) {
    const Variable edge = tape.Constant(Matrix::Zero(stages_ - 1, 1));
    const Variable inner = Shares(tape, tape.Read(boundaries_), heat, is_hard);
    rows.push_back(JoinColumns(tape, {edge, inner, edge}));
  }
  rows.push_back(tape.Constant(std::move(last)));
  return JoinRows(tape, rows);
}

// Returns the sum over kinds of the devices that are taken beyond those that exist, as a share of
// these.
Variable StageRelaxation::DevicesMissing(Tape& tape, Variable degrees) const {
  const auto kinds = static_cast<int>(devices_.counts.size());
  Matrix taken = Matrix::Zero(times_.choices().size(), kinds);
  for (size_t choice = 0; choice < times_.choices().size(); ++choice) {
    const StageReplicas& on = times_.choices()[choice];
    taken(choice, on.kind) = static_cast<double>(on.replicas) / devices_.counts[on.kind];
  }
  const Variable by_stage = MatMul(tape, degrees, tape.Constant(std::move(taken)));
  const Variable sums = MatMul(tape, tape.Constant(Matrix::Ones(1, stages_)), by_stage);
  return Sum(tape, Relu(tape, Subtract(tape, sums, tape.Constant(Matrix::Ones(1, kinds)))));
}

void StageRelaxation::Step(double progress, double best, const StopSign& stop) {
  Tape tape;
  const double heat = Between(options_.hot, options_.cold, progress);
  const double smooth = Between(options_.blunt, options_.sharp, progress);
  const bool is_hard = progress > kHardFrom;
  const Variable degrees = Shares(tape, tape.Read(degrees_), heat, is_hard);
  // From here on times are in units of the best score.
  const Variable times = MatMul(tape, degrees, tape.Constant(times_.scores() / best));
  const Variable ends = Boundaries(tape, heat, is_hard);
  stop.Check();
  const double never = static_cast<double>(Sum(devices_.counts) + 1);
  const Variable at_logits =
      SmoothMaximum(tape, ExpectedSeconds(tape, ends, times, times_.pieces(), never), smooth);
  stop.Check();
  const Variable ones =
      tape.Constant(Matrix::Ones(tape.value(times).rows(), tape.value(times).cols()));
  const Variable exponents =
      Clamp(tape, Scale(tape, Subtract(tape, times, ones), 1 / smooth), -kSteepest, kSteepest);
  stop.Check();
  const Variable programme =
      Scale(tape, SmoothCuts(tape, Exp(tape, exponents), times_.pieces(), kGamma), smooth);
  const Variable loss = Add(tape, Add(tape, at_logits, programme), DevicesMissing(tape, degrees));
  stop.Check();
  tape.Backward(loss);
  adam_.Step();
}

std::vector<StageReplicas> StageRelaxation::RoundedReplicas() const {
  std::vector<StageReplicas> replicas;
  for (int stage = 0; stage < stages_; ++stage) {
    replicas.push_back(times_.choices()[LikeliestColumn(degrees_.value, stage)]);
  }
  devices_.fit(replicas);
  return replicas;
}

RoundedStages StageRelaxation::RoundLogits() const {
  const int length = times_.pieces().length;
  std::vector<int> ends;
  for (int stage = 0; stage + 1 < stages_; ++stage) {
    ends.push_back(LikeliestColumn(boundaries_.value, stage) + 1);
  }
  std::sort(ends.begin(), ends.end());
  ends.push_back(length);
  // Moves ends apart from each other: first upwards, then down from the end.
  for (int stage = 1; stage < stages_; ++stage) {
    ends[stage] = std::max(ends[stage], ends[stage - 1] + 1);
  }
  for (int stage = stages_ - 1; stage >= 0; --stage) {
    ends[stage] = std::min(ends[stage], length - (stages_ - 1 - stage));
  }
  return {std::move(ends), RoundedReplicas()};
}

RoundedStages StageRelaxation::RoundDegrees() const {
  std::vector<StageReplicas> replicas = RoundedReplicas();
  std::vector<int> ends = times_.BestEnds(replicas);
  return {std::move(ends), std::move(replicas)};
}

}  // namespace stagecraft
