// Of measured values or errors: mean, median, quantiles, and how far they scatter.
//
// A quantile of a few values may be read in several ways. Which one a figure rests on is part of
// that figure, so each way has its name here.
#pragma once

#include <vector>

namespace stagecraft {

// Precondition: at least one value.
double Mean(const std::vector<double>& values);

// Precondition: at least one value. Of an even number of values it is the mean of the two in the
// middle.
double Median(std::vector<double> values);

// Of one value or more; of an even count the greater of the two in the middle.
double UpperMedian(std::vector<double> values);

// The next three take one value or more and a `share` of 0 to 1.
//
// On the straight line between the two sorted values that `share` lies between, the first of which
// has the share 0 and the last the share 1.
double InterpolatedQuantile(std::vector<double> values, double share);
// The lower of those two values.
double LowerQuantile(std::vector<double> values, double share);
// The sorted value before which a `share` of all values lies, rounded down; `share` is below 1.
double QuantileAfter(std::vector<double> values, double share);

// Standard deviation of what the values are a sample of: squares over n - 1. Of two
// values or more.
double Sigma(const std::vector<double>& values);

}  // namespace stagecraft
