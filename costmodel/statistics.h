// Mean, median, quantiles and standard deviation of measured values or errors.
//
// There are several definitions of a quantile of a few values, and a figure depends on the one that
// it is computed with, so each has its own name here. All functions CHECK that there are enough
// values.
#pragma once

#include <vector>

namespace stagecraft {

// Precondition: at least one value.
double Mean(const std::vector<double>& values);

// Precondition: at least one value. For an even number of values, the mean of the two in the
// middle.
double Median(std::vector<double> values);

// Precondition: at least one value. For an even number of values, the greater of the two in the
// middle.
double UpperMedian(std::vector<double> values);

// Quantiles of n sorted values v[0] ... v[n - 1]. Preconditions: n >= 1, and 0 <= share <= 1, or
// share < 1 for UpperQuantile().
//
// v at share * (n - 1), interpolated linearly between the two values around it.
double InterpolatedQuantile(std::vector<double> values, double share);
// v at share * (n - 1), rounded down.
double LowerQuantile(std::vector<double> values, double share);
// v at share * n, rounded down; UpperQuantile(values, 0.5) is UpperMedian(values).
double UpperQuantile(std::vector<double> values, double share);
// The least value that at least a share of the values does not exceed: the one at rank
// ceil(share * n), counted from 1; the least for a share of 0.
double NearestRankQuantile(std::vector<double> values, double share);

// The standard deviation of the distribution from which the values are drawn: the sum of squares is
// divided by n - 1. Precondition: at least two values.
double Sigma(const std::vector<double>& values);

}  // namespace stagecraft
