// Exits of a network: behind some blocks a head of their own computes a loss, so that tokens can
// leave the network there.
#pragma once

#include <cstddef>

#include "sim/workload/workload.h"

namespace stagecraft {

// What computes the loss at an exit. kOwn: a copy of the operators of the network's last layer,
// with weights of its own. kTied: the same, but its projection to the vocabulary is one tensor with
// that of the last layer.
enum class ExitHead { kNone, kOwn, kTied };
const char* Name(ExitHead head);  // "none", "own", "tied"

// Whether an exit follows a layer, which is then part of the layer's operators.
bool HasExit(const LayerKind& layer);

// Returns the first operator of the exit of a layer; the number of its operators if it has none.
size_t FirstExitOperator(const LayerKind& layer);

// Whether a layer can be the head of exits: it is a head that computes a single loss.
bool CanHeadExits(const LayerKind& head);

// Whether a head reads what a layer of the network hands on; `before` is the layer before the head.
bool ReadsOutputOf(const LayerKind& head, const LayerKind& before, const LayerKind& layer);

// Adds an exit behind a block: the head computes `arriving`, the share of the rows that reaches the
// exit. `leaving` is the share that goes on to the next layer; if it is smaller, these rows are
// gathered from the others. CanHeadExits(head) must hold.
void AddExit(const LayerKind& head, ExitHead kind, double arriving, double leaving,
             LayerKind& layer);

}  // namespace stagecraft
