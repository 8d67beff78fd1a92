// Output tiles of a GEMM over the multiprocessors: the best time among a few tile shapes and splits
// of k.
#pragma once

#include "costmodel/op.h"

namespace stagecraft {

struct OutputTile {
  double m;
  double n;
};
// The tiles that CUTLASS's kernels offer.
inline constexpr OutputTile kOutputTiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64},
                                              {64, 128},  {64, 64},   {64, 32},   {32, 64}};
// The numbers of parts into which the sum over k may be split.
inline constexpr double kSplits[] = {1, 2, 4, 8, 16};

// A GEMM, batch x (m,k)·(k,n).
struct Product {
  double batch;
  double m;
  double n;
  double k;

  double flops() const { return 2 * batch * m * n * k; }
  double left_elements() const { return batch * m * k; }
  double right_elements() const { return batch * k * n; }
  double out_elements() const { return batch * m * n; }
  double elements() const { return left_elements() + right_elements() + out_elements(); }
};

// Returns the GEMM of an op; a convolution is computed as a GEMM.
Product ProductOf(const Op& op);
// Returns the GEMM of one kernel of the op: if there are several, each computes m / kernels rows,
// as in recurrent layers.
Product ProductOfOneKernel(const Op& op);

// Returns the number of waves over all multiprocessors. One wave is one tile for each of them; the
// number is a fraction if the last wave is only partly full.
double WavesOf(const Product& product, const OutputTile& tile, int multiprocessors);

struct TileCosts {
  double edge;           // a tile works at tm*tn / (tm*tn + edge*(tm+tn)) of the rate
  double fill;           // steps of k to fill and drain a tile
  double wave_loss;      // lost share of the unfilled part of the last wave
  double split_seconds;  // what adding up the parts of a split costs
};

// Returns the seconds that the best tile and split take; `rate` is that of the whole device, in
// FLOP/s. Grows with every dimension.
double TiledSeconds(const Product& product, const TileCosts& costs, double rate,
                    int multiprocessors);

}  // namespace stagecraft
