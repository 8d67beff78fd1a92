// ParameterSet: a set of learned matrices; and the layers that use them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "search/learning/tape.h"

namespace stagecraft {

// ParameterSet holds named matrices in the order in which they were added; their addresses never
// change.
class ParameterSet {
 public:
  // Adds a matrix that is drawn uniformly within +-sqrt(6 / (rows + columns)) (Glorot and Bengio,
  // AISTATS 2010).
  Parameter& AddDrawn(const std::string& name, int rows, int columns, Random& random);
  Parameter& AddConstant(const std::string& name, int rows, int columns, double value);

  std::vector<Parameter*> all();

  // Returns text, one matrix after another: "name rows columns", then its rows; numbers with all
  // their digits.
  std::string Write() const;
  // Reads the values. Throws an InputError that begins with `source` unless the text has exactly
  // these names and shapes, and finite numbers.
  void Read(const std::string& text, const std::string& source);

 private:
  struct Named {
    std::string name;
    std::unique_ptr<Parameter> parameter;
  };
  Parameter& Add(const std::string& name, Matrix value);
  std::vector<Named> parameters_;
};

// LinearLayer computes x W + b, row by row.
class LinearLayer {
 public:
  LinearLayer(ParameterSet& parameters, const std::string& name, int inputs, int outputs,
              Random& random);
  Variable Apply(Tape& tape, Variable input) const;

 private:
  Parameter* weights_;  // of the set, which must outlive this layer
  Parameter* bias_;
};

// LstmCell is a long short-term memory (Hochreiter and Schmidhuber, 1997), with a forget gate that
// starts open.
class LstmCell {
 public:
  struct State {
    Variable hidden;  // rows x width
    Variable memory;
  };

  LstmCell(ParameterSet& parameters, const std::string& name, int inputs, int width,
           Random& random);
  State Start(Tape& tape, int rows) const;
  State Apply(Tape& tape, Variable input, const State& before) const;

 private:
  int width_;
  LinearLayer gates_;  // input, forget, output, candidate
  Parameter* forget_bias_;
};

}  // namespace stagecraft
