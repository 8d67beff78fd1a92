// Samples as a table of our own, with one row each:
//
//   kind,dtype,direction,causal,use,sequences,kv_batch,batch,m,n,k,bytes,kernels,
//   gpu,time_us,spread,repeats,clock_mhz,watts,name,split,software,source,
//   times_whole_calls,alignment,nonzeros
//
// `kind`, `gpu` and `time_us` are required, columns may come in any order, and an empty field is
// the default of the Op or Sample. No row holds a collective: those need a fabric, which protos
// have.
#pragma once

#include <span>
#include <string>

#include "costmodel/learned/sample.h"
#include "costmodel/learned/samples/table_format.h"

namespace stagecraft {

const TableFormat& SampleTable();
// The same without a column `kind`: all rows are GEMMs, and gpu,m,n,k,dtype,time_us are enough.
const TableFormat& GemmTable();

// Returns the text of the table. Reading it gives equal samples: times to the nanosecond, clocks to
// the Hz, power to the milliwatt. Throws an InputError that begins with `name` for a sample that
// the table cannot hold.
std::string SamplesToCsv(std::span<const Sample> samples, const std::string& name);

}  // namespace stagecraft
