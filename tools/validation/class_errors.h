// ClassErrors: errors of predicted times, by class of work and by the table that the rows are from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/validation/error_table.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/ratio_errors.h"

namespace stagecraft {

// What a row trains. kLarge16: a language model of 16 or fewer bits on GPUs since Volta. kLarge32:
// one of 32 bits, or on a mixture of GPU types. kClassic: any other network, and every network on
// GPUs of Kepler, Pascal and Turing.
enum class WorkClass { kLarge16, kLarge32, kClassic };
const char* Name(WorkClass work);

// Returns the class of what a row trains, whatever it measures.
WorkClass WorkOf(const MeasuredRow& row);
// Returns the same, but no value for rows that measure no time of a training step: memory, kernels,
// collectives.
std::optional<WorkClass> ClassOf(const MeasuredRow& row);

// Errors of times; rates count as their inverse. Rows that count once (primary) and have a
// prediction.
struct TimeErrors : RatioErrors {
  std::string source;  // the table, without ".csv"
};

struct ClassErrors {
  WorkClass work = WorkClass::kLarge16;
  std::vector<TimeErrors> sources;  // in order of first appearance
  double by_source = 0;             // mean of the sources' MAPE
  double by_rows = 0;               // MAPE of all rows
  std::optional<double> interval80_coverage;
};

// Returns the classes that have rows.
std::vector<ClassErrors> SummarizeClasses(std::span<const ValidatedRow> rows);

}  // namespace stagecraft
