#include "search/learning/tape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "search/learning/adam.h"
#include "search/learning/layers.h"
#include "search/learning/tape_operations.h"

namespace stagecraft {
namespace {

using Graph = std::function<Variable(Tape&, Variable, Variable)>;

Matrix Draw(Random& random, int rows, int columns) {
  Matrix drawn(rows, columns);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      drawn(row, column) = 2 * random.Uniform() - 1;
    }
  }
  return drawn;
}

// Returns a number that depends on every entry of the graph's result, each with its own weight.
Variable Weigh(Tape& tape, Variable result) {
  Random random(7);
  const Matrix& value = tape.value(result);
  return Sum(tape, Multiply(tape, result,
                            tape.Constant(Draw(random, static_cast<int>(value.rows()),
                                               static_cast<int>(value.cols())))));
}

double Value(const Graph& graph, Matrix a, Matrix b) {
  Tape tape;
  const Variable first = tape.Constant(std::move(a));
  const Variable second = tape.Constant(std::move(b));
  return tape.value(Weigh(tape, graph(tape, first, second)))(0, 0);
}

// Expects the gradients of central differences, to 1e-7 of the gradient's scale.
void ExpectGradients(const Graph& graph, const Matrix& a, const Matrix& b) {
  Parameter first(a);
  Parameter second(b);
  Tape tape;
  const Variable read_first = tape.Read(first);
  const Variable read_second = tape.Read(second);
  tape.Backward(Weigh(tape, graph(tape, read_first, read_second)));
  constexpr double kStep = 1e-5;
  for (int input = 0; input < 2; ++input) {
    const Matrix& at = input == 0 ? a : b;
    for (Eigen::Index entry = 0; entry < at.size(); ++entry) {
      Matrix above = at;
      Matrix below = at;
      above(entry) += kStep;
      below(entry) -= kStep;
      const double slope = input == 0 ? Value(graph, above, b) - Value(graph, below, b)
                                      : Value(graph, a, above) - Value(graph, a, below);
      const double gradient = (input == 0 ? first : second).gradient(entry);
      EXPECT_NEAR(gradient, slope / (2 * kStep), 1e-7 * std::max(1.0, std::abs(gradient)))
          << "input " << input << ", entry " << entry;
    }
  }
}

// y = x^2 + 3 x at x = 2: y' = 7.
TEST(TapeTest, GradientOfAPolynomialIsItsDerivative) {
  Parameter x(Matrix::Constant(1, 1, 2));
  Tape tape;
  const Variable read = tape.Read(x);
  const Variable y = Add(tape, Multiply(tape, read, read), Scale(tape, read, 3));
  EXPECT_EQ(tape.value(y)(0, 0), 10);
  tape.Backward(y);
  EXPECT_EQ(x.gradient(0, 0), 7);
}

TEST(TapeTest, GradientsOfEveryOperationAreThoseOfFiniteDifferences) {
  Mask mask = Mask::Ones(3, 4);
  mask(0, 1) = mask(2, 0) = mask(2, 3) = 0;
  const std::vector<Graph> graphs = {
      [](Tape& t, Variable a, Variable b) { return Add(t, a, b); },
      [](Tape& t, Variable a, Variable b) { return Subtract(t, a, b); },
      [](Tape& t, Variable a, Variable b) { return Multiply(t, a, b); },
      [](Tape& t, Variable a, Variable b) { return Minimum(t, a, b); },
      [](Tape& t, Variable a, Variable) { return Relu(t, a); },
      [](Tape& t, Variable a, Variable) { return Tanh(t, a); },
      [](Tape& t, Variable a, Variable) { return Sigmoid(t, a); },
      [](Tape& t, Variable a, Variable) { return Exp(t, a); },
      [](Tape& t, Variable a, Variable b) { return Multiply(t, Log(t, Exp(t, a)), b); },
      [](Tape& t, Variable a, Variable) { return Clamp(t, a, -0.5, 0.4); },
      [&](Tape& t, Variable a, Variable) { return Softmax(t, a, mask); },
      [&](Tape& t, Variable a, Variable) { return LogSoftmax(t, a, mask); },
      [](Tape& t, Variable a, Variable) {
        return GatherRows(t, a, {2, 0, 2});
      },
      [](Tape& t, Variable a, Variable) {
        return PickColumns(t, a, {3, 0, 1});
      },
      [](Tape& t, Variable a, Variable) { return Columns(t, a, 1, 2); },
      [](Tape& t, Variable a, Variable b) {
        return JoinColumns(t, {a, b, a});
      },
      [](Tape& t, Variable a, Variable b) {
        return JoinRows(t, {a, b, b});
      },
      [](Tape& t, Variable a, Variable) { return Reshape(t, a, 6, 2); },
      [](Tape& t, Variable a, Variable) { return Mean(t, a); },
      [](Tape& t, Variable a, Variable) { return SmoothMaximum(t, a, 0.3); },
      [](Tape& t, Variable a, Variable b) { return AddRow(t, a, GatherRows(t, b, {1})); },
  };
  Random random(1);
  for (size_t g = 0; g < graphs.size(); ++g) {
    SCOPED_TRACE("operation " + std::to_string(g));
    const Matrix a = Draw(random, 3, 4);
    const Matrix b = Draw(random, 3, 4);
    ExpectGradients(graphs[g], a, b);
  }
}

TEST(TapeTest, GradientsOfAProductOfMatricesAreThoseOfFiniteDifferences) {
  Random random(2);
  const Matrix a = Draw(random, 3, 4);
  const Matrix b = Draw(random, 4, 2);
  ExpectGradients([](Tape& t, Variable x, Variable y) { return MatMul(t, x, y); }, a, b);
}

TEST(TapeTest, GradientsThroughTwoStepsOfAMemoryAreThoseOfFiniteDifferences) {
  Random random(3);
  ParameterSet parameters;
  const LstmCell cell(parameters, "cell", 2, 3, random);
  const Graph graph = [&](Tape& tape, Variable a, Variable b) {
    LstmCell::State state = cell.Start(tape, 2);
    state = cell.Apply(tape, a, state);
    state = cell.Apply(tape, b, state);
    return JoinColumns(tape, {state.hidden, state.memory});
  };
  const Matrix a = Draw(random, 2, 2);
  const Matrix b = Draw(random, 2, 2);
  ExpectGradients(graph, a, b);
}

TEST(TapeTest, SmoothMaximumLiesAboveTheMaximumByAtMostItsBound) {
  Tape tape;
  const Variable a = tape.Constant((Matrix(1, 3) << 1, 5, 4).finished());
  const double smooth = tape.value(SmoothMaximum(tape, a, 0.5))(0, 0);
  EXPECT_GT(smooth, 5);
  EXPECT_LE(smooth, 5 + 0.5 * std::log(3));
}

TEST(TapeTest, MaskedEntriesHaveNoShare) {
  Tape tape;
  Mask mask = Mask::Ones(1, 3);
  mask(0, 2) = 0;
  const Variable a = tape.Constant((Matrix(1, 3) << 2, 2, 100).finished());
  EXPECT_NEAR(tape.value(Softmax(tape, a, mask))(0, 0), 0.5, 1e-15);
  EXPECT_EQ(tape.value(Softmax(tape, a, mask))(0, 2), 0);
  EXPECT_EQ(tape.value(LogSoftmax(tape, a, mask))(0, 2), 0);
}

// (x - 3)^2 + (y + 1)^2
TEST(AdamTest, ReachesTheMinimumOfABowl) {
  Parameter x((Matrix(1, 2) << 0, 0).finished());
  Adam adam({&x}, {.rate = 0.1});
  for (int step = 0; step < 500; ++step) {
    Tape tape;
    const Variable from =
        Subtract(tape, tape.Read(x), tape.Constant((Matrix(1, 2) << 3, -1).finished()));
    tape.Backward(Sum(tape, Multiply(tape, from, from)));
    adam.Step();
  }
  EXPECT_NEAR(x.value(0, 0), 3, 1e-3);
  EXPECT_NEAR(x.value(0, 1), -1, 1e-3);
}

// The first step of Adam has the length of its rate, whatever the gradient.
TEST(AdamTest, FirstStepIsAsLongAsTheRate) {
  Parameter x(Matrix::Constant(1, 1, 1));
  x.gradient(0, 0) = 123;
  Adam({&x}, {.rate = 0.01}).Step();
  EXPECT_NEAR(x.value(0, 0), 0.99, 1e-9);
  EXPECT_EQ(x.gradient(0, 0), 0);
}

TEST(ParameterSetTest, WhatWasWrittenReadsBackBitByBit) {
  Random random(4);
  ParameterSet written;
  written.AddDrawn("a", 3, 2, random);
  written.AddDrawn("b", 1, 4, random);
  ParameterSet read;
  read.AddConstant("a", 3, 2, 0);
  read.AddConstant("b", 1, 4, 0);
  read.Read(written.Write(), "policy.txt");
  EXPECT_EQ(read.all()[0]->value, written.all()[0]->value);
  EXPECT_EQ(read.all()[1]->value, written.all()[1]->value);
}

TEST(ParameterSetTest, OtherShapesAndTornFilesAreRefused) {
  ParameterSet parameters;
  parameters.AddConstant("a", 2, 2, 1);
  EXPECT_THROW(parameters.Read("a 2 3\n1 1 1\n1 1 1\n", "policy.txt"), InputError);
  EXPECT_THROW(parameters.Read("a 2 2\n1 1\n1\n", "policy.txt"), InputError);
  EXPECT_THROW(parameters.Read("a 2 2\n1 1\n1 nan\n", "policy.txt"), InputError);
  EXPECT_THROW(parameters.Read("a 2 2\n1 1\n1 1\nb 1 1\n0\n", "policy.txt"), InputError);
}

}  // namespace
}  // namespace stagecraft
