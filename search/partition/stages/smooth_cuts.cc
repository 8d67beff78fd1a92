#include "search/partition/stages/smooth_cuts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// Returns log(exp(a) + exp(b)).
double LogAdd(double a, double b) {
  const double more = std::max(a, b);
  if (more == kImpossible) return kImpossible;
  return more + std::log1p(std::exp(std::min(a, b) - more));
}

// CutSums holds the logarithms of sums of exp(-energy / gamma) over all cuts of a prefix into the
// first stages (stages + 1 x length + 1), and of a suffix into the last.
struct CutSums {
  Matrix prefix;
  Matrix suffix;
};

CutSums SumOverCuts(const Matrix& energies, const Pieces& pieces, double gamma) {
  const auto stages = static_cast<int>(energies.rows());
  const int length = pieces.length;
  CHECK(stages <= length && energies.cols() == pieces.count());
  CutSums sums{Matrix::Constant(stages + 1, length + 1, kImpossible),
               Matrix::Constant(stages + 1, length + 1, kImpossible)};
  sums.prefix(0, 0) = 0;
  sums.suffix(stages, length) = 0;
  for (int stage = 0; stage < stages; ++stage) {
    for (int begin = stage; begin < length; ++begin) {
      const double before = sums.prefix(stage, begin);
      if (before == kImpossible) continue;
      for (int end = begin + 1; end <= length - (stages - stage - 1); ++end) {
        double& sum = sums.prefix(stage + 1, end);
        sum = LogAdd(sum, before - energies(stage, pieces.index(begin, end)) / gamma);
      }
    }
  }
  for (int stage = stages - 1; stage >= 0; --stage) {
    for (int begin = stage; begin < length; ++begin) {
      double& sum = sums.suffix(stage, begin);
      for (int end = begin + 1; end <= length; ++end) {
        const double behind = sums.suffix(stage + 1, end);
        if (behind == kImpossible) continue;
        sum = LogAdd(sum, behind - energies(stage, pieces.index(begin, end)) / gamma);
      }
    }
  }
  return sums;
}

Matrix MarginalsOf(const CutSums& sums, const Matrix& energies, const Pieces& pieces,
                   double gamma) {
  Matrix marginals = Matrix::Zero(energies.rows(), energies.cols());
  const double all = sums.suffix(0, 0);
  for (int stage = 0; stage < energies.rows(); ++stage) {
    for (int begin = 0; begin < pieces.length; ++begin) {
      for (int end = begin + 1; end <= pieces.length; ++end) {
        const int piece = pieces.index(begin, end);
        const double logarithm = sums.prefix(stage, begin) - energies(stage, piece) / gamma +
                                 sums.suffix(stage + 1, end) - all;
        marginals(stage, piece) = std::exp(logarithm);
      }
    }
  }
  return marginals;
}

}  // namespace

Matrix CutMarginals(const Matrix& energies, const Pieces& pieces, double gamma) {
  return MarginalsOf(SumOverCuts(energies, pieces, gamma), energies, pieces, gamma);
}

Variable SmoothCuts(Tape& tape, Variable energies, const Pieces& pieces, double gamma) {
  const Matrix& input = tape.value(energies);
  const CutSums sums = SumOverCuts(input, pieces, gamma);
  const Matrix marginals = MarginalsOf(sums, input, pieces, gamma);
  return tape.Record(Matrix::Constant(1, 1, -gamma * sums.suffix(0, 0)),
                     [energies, marginals](Tape& on, const Matrix& gradient) {
                       on.AddGradient(energies, marginals * gradient(0, 0));
                     });
}

Variable ExpectedSeconds(Tape& tape, Variable ends, Variable seconds, const Pieces& pieces,
                         double never) {
  // One matrix for each stage, indexed by [begin][end].
  const auto stages = static_cast<int>(tape.value(seconds).rows());
  std::vector<Matrix> tables;
  for (int stage = 0; stage < stages; ++stage) {
    Matrix& table =
        tables.emplace_back(Matrix::Constant(pieces.length + 1, pieces.length + 1, never));
    for (int begin = 0; begin < pieces.length; ++begin) {
      for (int end = begin + 1; end <= pieces.length; ++end) {
        table(begin, end) = tape.value(seconds)(stage, pieces.index(begin, end));
      }
    }
  }
  const Matrix& shares = tape.value(ends);
  Matrix value(stages, 1);
  for (int stage = 0; stage < stages; ++stage) {
    value(stage, 0) = shares.row(stage).dot(tables[stage] * shares.row(stage + 1).transpose());
  }
  return tape.Record(std::move(value), [=](Tape& on, const Matrix& gradient) {
    const Matrix& at = on.value(ends);
    Matrix to_ends = Matrix::Zero(at.rows(), at.cols());
    Matrix to_seconds = Matrix::Zero(stages, pieces.count());
    for (int stage = 0; stage < stages; ++stage) {
      const double slope = gradient(stage, 0);
      to_ends.row(stage) += slope * (tables[stage] * at.row(stage + 1).transpose()).transpose();
      to_ends.row(stage + 1) += slope * at.row(stage) * tables[stage];
      for (int begin = 0; begin < pieces.length; ++begin) {
        for (int end = begin + 1; end <= pieces.length; ++end) {
          to_seconds(stage, pieces.index(begin, end)) =
              slope * at(stage, begin) * at(stage + 1, end);
        }
      }
    }
    on.AddGradient(ends, to_ends);
    on.AddGradient(seconds, to_seconds);
  });
}

Variable StraightThrough(Tape& tape, Variable soft, Matrix hard) {
  return tape.Record(std::move(hard),
                     [soft](Tape& on, const Matrix& gradient) { on.AddGradient(soft, gradient); });
}

}  // namespace stagecraft
