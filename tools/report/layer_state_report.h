// Reports the states of a network's layers, and how products of their sparse matrices run.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/engine/sparse_products.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Prints a line for every kind of state that some layers are in: frozen, cached, on some rows ...
void PrintLayerStates(const Workload& workload, std::ostream& out);

// The same as an object with the number of layers in each kind of state.
nlohmann::ordered_json LayerStatesToJson(const Workload& workload);

// Returns a sentence about how sparse products run; nothing if there are none.
std::string SparseNote(const SparseProducts& products);
// Returns the sentence about those of a schedule of WithFasterProducts(), if it has some.
std::vector<std::string> SparseNotes(const Schedule& schedule);

}  // namespace stagecraft
