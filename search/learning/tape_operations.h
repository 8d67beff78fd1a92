// The operations that a tape can compute. Matrices are rows x columns; "row by row" treats a matrix
// as that many independent rows. Shapes must be equal unless it is stated otherwise.
#pragma once

#include <vector>

#include "search/learning/tape.h"

namespace stagecraft {

// Entries are 1 where they are allowed, else 0.
using Mask = Eigen::ArrayXXd;

Variable MatMul(Tape& tape, Variable a, Variable b);
Variable Add(Tape& tape, Variable a, Variable b);
Variable Subtract(Tape& tape, Variable a, Variable b);
Variable Multiply(Tape& tape, Variable a, Variable b);  // elementwise
Variable Scale(Tape& tape, Variable a, double factor);
// Adds `row` (1 x columns) to every row of `a`.
Variable AddRow(Tape& tape, Variable a, Variable row);
// Returns the lesser value of each entry; the gradient goes to its operand, to `a` if both are
// equal.
Variable Minimum(Tape& tape, Variable a, Variable b);

// These five are elementwise.
Variable Relu(Tape& tape, Variable a);
Variable Tanh(Tape& tape, Variable a);
Variable Sigmoid(Tape& tape, Variable a);
Variable Exp(Tape& tape, Variable a);
Variable Log(Tape& tape, Variable a);
// Clamps to [low, high]; there is no gradient where the value was cut off.
Variable Clamp(Tape& tape, Variable a, double low, double high);

// Row by row; entries that the mask does not allow have probability 0, a logarithm of 0 and no
// gradient. Every row must have an allowed entry.
Variable Softmax(Tape& tape, Variable a, const Mask& mask);
Variable LogSoftmax(Tape& tape, Variable a, const Mask& mask);

// Returns the given rows of `a`, in that order; a row may occur several times.
Variable GatherRows(Tape& tape, Variable a, const std::vector<int>& rows);
// Returns entry columns[r] of every row r, as a column.
Variable PickColumns(Tape& tape, Variable a, const std::vector<int>& columns);
Variable Columns(Tape& tape, Variable a, int first, int count);
// Joins parts side by side; all have equally many rows.
Variable JoinColumns(Tape& tape, const std::vector<Variable>& parts);
// Returns the same entries, column by column, in another shape.
Variable Reshape(Tape& tape, Variable a, int rows, int columns);
// Joins parts on top of each other; all have equally many columns.
Variable JoinRows(Tape& tape, const std::vector<Variable>& parts);

// The results are 1 x 1.
Variable Sum(Tape& tape, Variable a);
Variable Mean(Tape& tape, Variable a);
// Returns temperature * log(sum(exp(a / temperature))): at least the greatest entry, and at most
// temperature * log(number of entries) above it.
Variable SmoothMaximum(Tape& tape, Variable a, double temperature);

}  // namespace stagecraft
