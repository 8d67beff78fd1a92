// Tables of kernel measurements that others made (data/kernels in the shared
// data; its README says what their columns mean).
#pragma once

#include <span>

#include "costmodel/learned/samples/table_format.h"

namespace stagecraft {

// The GPU is the `gpu_id` column. Tiles, grids and whatever else the measured
// kernel chose are passed over: they are outputs.
std::span<const TableFormat> ThirdPartyTables();

}  // namespace stagecraft
