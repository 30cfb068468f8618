// Moments of the columns of a block, and residuals of its targets.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels.hpp"
#include "tiles.hpp"

namespace reticulum {
namespace {

void moments(const Block& block, int width, const double* mass, double* second, double* cross) {
    const int64_t pairs = int64_t{width} * (width + 1) / 2;
    add_curvatures(mass, 1, block.n, block.design, block.stride, width, 0, second, pairs);
    add_dots(mass, 1, block.n, block.design, block.stride, width, cross + int64_t{block.code} * width);
}

// Sets `residual` (n) to targets less the linear function of a leaf.
inline void residuals(const Block& block, const double* coefficients, double* residual) {
    const int n = block.n, columns = block.factors - 1;
    std::copy_n(block.statistics, n, residual);
    for (int j = 0; j < columns; ++j) {
        const double* column = block.statistics + (j + 1) * block.statistics_stride;
        for (int b = 0; b < n; b += kLanes)
            store(residual + b, load(residual + b) - coefficients[j] * load(column + b));
    }
}

// Sum of absolute values.
inline double sum_of_sizes(const double* values, const double* factors, int n) {
    Vec total = {};
    for (int b = 0; b < n; b += kLanes) {
        const Vec value = load(values + b) * load(factors + b);
        total += larger(value, -value);
    }
    return sum(total);
}

void moments_of_numbers(const Block& block, int width, const double* mass, const double* coefficients, double* second,
                        double* cross, double* size, Scratch& scratch) {
    const int n = block.n;
    const int64_t pairs = int64_t{width} * (width + 1) / 2;
    Parts<double> parts(scratch, 3 * int64_t{n});
    double* residual = parts.next(n);
    double* once = parts.next(n);   // mass times residual
    double* twice = parts.next(n);  // mass times the squared residual
    add_curvatures(mass, 1, n, block.design, block.stride, width, 0, second, pairs);
    if (coefficients)
        residuals(block, coefficients, residual);
    else
        std::copy_n(block.statistics, n, residual);
    for (int b = 0; b < n; b += kLanes) {
        const Vec r = load(residual + b), m = load(mass + b);
        store(once + b, m * r);
        // A leaf that is linear in the columns leaves the variance of rounding out: it does not vary.
        store(twice + b, m * (coefficients ? r * r : r * r + load(block.variance + b)));
    }
    if (!coefficients) {
        const double* weights[3] = {twice, once, mass};
        for (int s = 0; s < 3; ++s) {
            add_dots(weights[s], 1, n, block.design, block.stride, width, cross + int64_t{s} * width);
            size[s] += sum_of_sizes(weights[s], block.design, n);
        }
        return;
    }
    add_curvatures(once, 1, n, block.design, block.stride, width, 0, cross, pairs);
    add_dots(twice, 1, n, block.design, block.stride, width, cross + pairs);
    for (int j = 0; j < width; ++j) size[j] += sum_of_sizes(once, block.design + j * block.stride, n);
    size[width] += sum_of_sizes(twice, block.design, n);
}

void project(const double* directions, int count, int width, const Block& block, double* out, int64_t stride) {
    product(directions, count, width, block.design, block.stride, out, stride, block.n);
}

}  // namespace
}  // namespace reticulum
