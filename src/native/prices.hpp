// What hyperplanes cost, as in evidence/prices.py: the penalty of their prior, and the price of each split.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "information.hpp"
#include "instruction_sets.hpp"
#include "linear.hpp"

namespace reticulum {

// The numbers of the model that evidence/prices.py and evidence/precisions.py explain.
constexpr double kOffsetPrecision = 0.01;
constexpr double kPrecisionPrior = 0.02;
constexpr double kLeastPrecision = 1e-6, kLargestPrecision = 1e3;

// Prior precision of the offset (column 0) or of a slope.
inline double prior_precision(double slope_precision, int column) {
    return column == 0 ? std::min(kOffsetPrecision, slope_precision) : slope_precision;
}

// Half the sum of squares of hyperplanes (m, width), each times its prior precision.
inline double penalty(const Values& hyperplanes, const Values& precisions, int width) {
    double sum = 0.0;
    const double* weight = hyperplanes.data();
    for (double precision : precisions)
        for (int column = 0; column < width; ++column, ++weight)
            sum += prior_precision(precision, column) * *weight * *weight;
    return 0.5 * sum;
}

// Price of a split, and how many of its slopes its rows leave undetermined.
struct SplitCost {
    double price = 0.0, undetermined = 0.0;
};

// From the information of a split in units of its prior, negative eigenvalues counted as 0; both follow from one
// decomposition. Of columns that are `absent` from a sparse split the information is 0.
inline SplitCost split_cost(const Columns& columns, const double* observed, double precision,
                            const std::vector<int>& absent) {
    const int n = columns.lead();
    Values scale(n), matrix(static_cast<size_t>(n) * n), work;
    for (int j = 0; j < n; ++j) scale[j] = 1.0 / std::sqrt(prior_precision(precision, j));
    for_leading_pairs(columns, [&](int row, int column, int64_t place) {
        matrix[int64_t{row} * n + column] = matrix[int64_t{column} * n + row] =
            observed[place] * scale[row] * scale[column];
    });
    SplitCost cost;
    for (double variance : columns.tail_variances) {
        const double value = std::max(activation_information(columns, observed) * variance / precision, 0.0);
        cost.price += 0.5 * std::log1p(value);
        cost.undetermined += 1.0 / (1.0 + value);
    }
    work = matrix;
    // Zeros of absent columns do not matter to whether the rest is positive definite.
    for (int column : absent) work[int64_t{column} * (n + 1)] = 1.0;
    if (kernels.cholesky(work.data(), n)) {
        // No eigenvalue is negative: a determinant and an inverse take less time than eigenvalues.
        for (int j = 0; j < n; ++j) matrix[int64_t{j} * n + j] += 1.0;
        kernels.cholesky(matrix.data(), n);
        for (int j = 0; j < n; ++j) cost.price += std::log(matrix[int64_t{j} * n + j]);
        Values inverse(matrix.size());
        kernels.inverse_from_cholesky(matrix.data(), n, work.data(), inverse.data());
        for (int j = 1; j < n; ++j) cost.undetermined += inverse[int64_t{j} * n + j];
        return cost;
    }
    Values values;
    eigensystem(matrix.data(), n, values);
    for (int e = 0; e < n; ++e) {
        const double value = std::max(values[e], 0.0);
        cost.price += 0.5 * std::log1p(value);
        for (int j = 1; j < n; ++j) {
            const double part = matrix[int64_t{j} * n + e];
            cost.undetermined += part * part / (1.0 + value);
        }
    }
    return cost;
}

// MacKay's update of the precision of the slopes in a hyperplane (width).
inline double updated_precision(const double* hyperplane, int width, double undetermined) {
    const double determined = std::clamp(width - 1 - undetermined, 0.0, double(width - 1));
    double squared = 0.0;
    for (int j = 1; j < width; ++j) squared += hyperplane[j] * hyperplane[j];
    return std::clamp((determined + kPrecisionPrior) / (squared + kPrecisionPrior), kLeastPrecision, kLargestPrecision);
}

}  // namespace reticulum
