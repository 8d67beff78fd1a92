// The window of causal attention: which keys a query sees if not all before it. Only these
// functions know where an operator keeps it: in fields that causal attention has no other use for,
// `input_elements` for the keys and `groups` for their kind, so that files of workloads
// (workload_proto.h) hold it, too.
#pragma once

#include <cstdint>

#include "sim/workload/workload.h"

namespace stagecraft {

enum class WindowKind {
  kSliding,  // the last keys; or any of those before a query, as many, that an indexer selects
  kChunked,  // those before a query in its own chunk of the sequence
};

// Lets each query of causal attention see at most `keys` > 0 keys, its own among them.
void SetWindow(int64_t keys, WindowKind kind, Operator& op);

// Returns the most keys that a query sees; 0 if it sees all of them.
int64_t WindowOf(const Operator& op);

// Whether queries of causal attention over `rows` tokens see fewer keys than all before them.
bool HasWindow(const Operator& op, int64_t rows);

// Returns how many keys a query of causal attention over `rows` >= 0 tokens sees, on average over
// all queries and counted as half the square of what they see together: rows / 2 without a window,
// w - w²/(2·rows) with a sliding one of w < rows, and w/2 with chunks of w that divide the rows.
double MeanCausalKeys(const Operator& op, double rows);

}  // namespace stagecraft
