// Formats of tables of kernel measurements that others made (data/kernels in the shared data; its
// README says what their columns mean).
#pragma once

#include <span>

#include "costmodel/learned/samples/table_format.h"

namespace stagecraft {

// The GPU type is the column `gpu_id`. Tiles, grids and whatever else the measured kernel chose are
// skipped: they are outputs.
std::span<const TableFormat> ThirdPartyTables();

}  // namespace stagecraft
