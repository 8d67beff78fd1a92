#include "search/partition/stages/smooth_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "costmodel/random.h"
#include "search/learning/tape_operations.h"

namespace stagecraft {
namespace {

Matrix Draw(Random& random, int rows, int columns) {
  Matrix drawn(rows, columns);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) drawn(row, column) = random.Uniform();
  }
  return drawn;
}

// Appends the sum of energies of every way to cut.
void AddWays(const Matrix& energies, const Pieces& pieces, int stage, int begin, double sum,
             std::vector<double>& ways) {
  if (stage == energies.rows()) {
    if (begin == pieces.length) ways.push_back(sum);
    return;
  }
  for (int end = begin + 1; end <= pieces.length; ++end) {
    AddWays(energies, pieces, stage + 1, end, sum + energies(stage, pieces.index(begin, end)),
            ways);
  }
}

// Expects the gradient of a function of one matrix to equal central differences, to 1e-7 of it.
void ExpectSlope(const std::function<Variable(Tape&, Variable)>& function, const Matrix& at) {
  Parameter input(at);
  Tape tape;
  tape.Backward(function(tape, tape.Read(input)));
  constexpr double kStep = 1e-5;
  for (Eigen::Index entry = 0; entry < at.size(); ++entry) {
    double values[2];
    for (int side = 0; side < 2; ++side) {
      Matrix moved = at;
      moved(entry) += side == 0 ? kStep : -kStep;
      Tape again;
      values[side] = again.value(function(again, again.Constant(moved)))(0, 0);
    }
    const double gradient = input.gradient(entry);
    EXPECT_NEAR(gradient, (values[0] - values[1]) / (2 * kStep),
                1e-7 * std::max(1.0, std::abs(gradient)));
  }
}

// Two nodes in two stages can be cut in one way only.
TEST(SmoothCutsTest, OneWayCostsItsEnergies) {
  const Pieces pieces{2};
  Matrix energies = Matrix::Constant(2, 3, 100);
  energies(0, pieces.index(0, 1)) = 3;
  energies(1, pieces.index(1, 2)) = 4;
  Tape tape;
  EXPECT_NEAR(tape.value(SmoothCuts(tape, tape.Constant(energies), pieces, 0.5))(0, 0), 7, 1e-12);
}

TEST(SmoothCutsTest, IsTheSmoothMinimumOfAllWays) {
  Random random(1);
  const Pieces pieces{6};
  const Matrix energies = Draw(random, 3, pieces.count());
  std::vector<double> ways;
  AddWays(energies, pieces, 0, 0, 0, ways);
  ASSERT_EQ(ways.size(), 10u);
  constexpr double kGamma = 0.2;
  double sum = 0;
  for (const double way : ways) sum += std::exp(-way / kGamma);
  Tape tape;
  const double smooth = tape.value(SmoothCuts(tape, tape.Constant(energies), pieces, kGamma))(0, 0);
  EXPECT_NEAR(smooth, -kGamma * std::log(sum), 1e-12);
  const double least = *std::min_element(ways.begin(), ways.end());
  EXPECT_LE(smooth, least);
  EXPECT_GE(smooth, least - kGamma * std::log(10.0));
}

TEST(SmoothCutsTest, MarginalsAreItsGradientAndSumToOneAStage) {
  Random random(2);
  const Pieces pieces{5};
  const Matrix energies = Draw(random, 3, pieces.count());
  ExpectSlope([&](Tape& tape, Variable at) { return SmoothCuts(tape, at, pieces, 0.3); }, energies);
  const Matrix marginals = CutMarginals(energies, pieces, 0.3);
  for (int stage = 0; stage < 3; ++stage) EXPECT_NEAR(marginals.row(stage).sum(), 1, 1e-12);
}

TEST(SmoothCutsTest, ExpectedSecondsHaveTheGradientsOfFiniteDifferences) {
  Random random(3);
  const Pieces pieces{4};
  const Matrix ends = Draw(random, 3, 5);
  const Matrix seconds = Draw(random, 2, pieces.count());
  const auto sum = [&](Tape& tape, Variable expected) {
    return Sum(tape, Multiply(tape, expected, expected));
  };
  ExpectSlope(
      [&](Tape& tape, Variable at) {
        return sum(tape, ExpectedSeconds(tape, at, tape.Constant(seconds), pieces, 9));
      },
      ends);
  ExpectSlope(
      [&](Tape& tape, Variable at) {
        return sum(tape, ExpectedSeconds(tape, tape.Constant(ends), at, pieces, 9));
      },
      seconds);
}

TEST(SmoothCutsTest, StraightThroughShowsTheHardAndLearnsTheSoft) {
  Parameter soft(Matrix::Constant(1, 2, 0.5));
  Tape tape;
  const Variable through =
      StraightThrough(tape, tape.Read(soft), (Matrix(1, 2) << 1, 0).finished());
  EXPECT_EQ(tape.value(through)(0, 0), 1);
  tape.Backward(Sum(tape, Scale(tape, through, 3)));
  EXPECT_EQ(soft.gradient(0, 1), 3);
}

}  // namespace
}  // namespace stagecraft
