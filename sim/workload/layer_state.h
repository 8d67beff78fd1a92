// LayerState: what a layer of a network is at a moment of a training run: trained or frozen, dense
// or pruned, on all tokens or on some.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/workload/early_exit.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// How pruned weights are stored. kMasked: with all their zeros, so that nothing is saved. kCsr: the
// entries that are left, the number of the column of each, and where each row begins.
enum class WeightStorage { kMasked, kCsr };
const char* Name(WeightStorage storage);

struct LayerState {
  bool is_trained = true;
  // What the layer hands on is known from an earlier step and comes with the tokens, so that its
  // forward does not run. Only frozen layers at the beginning of the network can be cached.
  bool is_cached = false;
  // The layer is frozen, but for weights that it shares with a trained layer: the gradient of these
  // is that of the trained layer alone. Nothing before a detached layer is trained.
  bool is_detached = false;
  // The share of the sample's rows that the layer computes. Attention then has this share of the
  // queries and of the keys. The other rows pass the layer by if some layer behind it computes
  // them, and else have left the network.
  double token_share = 1;
  // The share of the weights of matrices that is left, in blocks alone.
  double weight_density = 1;
  WeightStorage storage = WeightStorage::kMasked;
  double attention_density = 1;     // the share of the scores that attention computes
  std::vector<double> expert_rows;  // how many rows each expert gets, in any unit; empty: see plan
  // The rank of the low-rank matrices that are trained beside those of the block, which are frozen
  // with all the rest of the block (LoRA, Hu et al., 2021); 0: there are none.
  int adapter_rank = 0;
  // The head of an exit behind the layer, through which go all rows that reach the layer. Blocks
  // before the last one alone; it is frozen with the layer.
  ExitHead exit_head = ExitHead::kNone;
  friend bool operator==(const LayerState&, const LayerState&) = default;
};

// The number of entries of a pruned matrix is a multiple of this, for kernels that load several.
inline constexpr int64_t kEntriesTogether = 4;

// Gives every layer of a workload its state; layers that are frozen already stay so. Layers of one
// kind become kinds of their own where what they compute or hand on differs. `states` are by layer,
// with numbers within their ranges; what a layer has nothing of (attention, experts, matrices) does
// not change it. Throws InputError, which begins with `key`, if no layer would be trained, if
// cached layers are trained or follow others, if the last layer would compute no rows, if only some
// of the layers that share a tensor would be trained and the others are not detached, if a layer
// cannot have an exit, or if the workload is a profile, which does not say what its operators
// compute.
void ApplyLayerStates(const std::string& key, std::span<const LayerState> states,
                      Workload& workload);

// Freezes these layers; `is_frozen` is by layer.
void FreezeLayers(const std::string& key, const std::vector<bool>& is_frozen, Workload& workload);

// Detaches the layers before layer `end`, all of them frozen, that share weights with a layer
// behind them that is trained. Returns whether there are any. `states` has one for each layer.
bool DetachTied(const Workload& workload, int end, std::vector<LayerState>& states);

}  // namespace stagecraft
