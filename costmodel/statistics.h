// Of a handful of measured values: mean, median, and how far they scatter.
#pragma once

#include <vector>

namespace stagecraft {

// Of one value or more.
double Mean(const std::vector<double>& values);

// Of one value or more; of an even count the mean of the two in the middle.
double Median(std::vector<double> values);

// Standard deviation of what the values are a sample of: squares over n - 1. Of two
// values or more.
double Sigma(const std::vector<double>& values);

}  // namespace stagecraft
