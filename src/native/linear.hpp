// Small symmetric matrices, and the gamma function's relatives.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace reticulum {

// Share of the largest entry of a matrix below which others are nothing.
constexpr double kDust = 1e-30;

// Eigenvalues of a symmetric matrix (n, n), which is overwritten: column k by the eigenvector of value k.
//
// Householder's reflections make it tridiagonal; rotations (QL with implicit shifts) then make it diagonal.
inline void eigensystem(double* a, int n, std::vector<double>& values) {
    values.assign(n, 0.0);
    std::vector<double> off(n, 0.0), v(n), p(n);
    std::vector<double> q(static_cast<size_t>(n) * n, 0.0);
    for (int i = 0; i < n; ++i) q[int64_t{i} * n + i] = 1.0;
    double largest = 0.0;
    for (int64_t i = 0; i < int64_t{n} * n; ++i) largest = std::max(largest, std::abs(a[i]));
    for (int k = 0; k + 2 < n; ++k) {
        // The reflection that turns column k below the diagonal into a multiple of the first unit vector.
        double norm = 0.0;
        for (int i = k + 1; i < n; ++i) norm = std::hypot(norm, a[int64_t{i} * n + k]);
        // What rounding leaves of a matrix of low rank dwindles from column to column, until it cannot be divided by.
        if (norm <= kDust * largest) {
            for (int i = k + 1; i < n; ++i) a[int64_t{i} * n + k] = a[int64_t{k} * n + i] = 0.0;
            continue;
        }
        double squared = 0.0;
        std::fill(v.begin(), v.end(), 0.0);
        for (int i = k + 1; i < n; ++i) v[i] = a[int64_t{i} * n + k] / norm;
        v[k + 1] += v[k + 1] > 0.0 ? 1.0 : -1.0;
        for (int i = k + 1; i < n; ++i) squared += v[i] * v[i];
        const double scale = 2.0 / squared;
        double along = 0.0;
        for (int i = k; i < n; ++i) {
            double value = 0.0;
            for (int j = k + 1; j < n; ++j) value += a[int64_t{i} * n + j] * v[j];
            p[i] = scale * value;
            along += p[i] * v[i];
        }
        for (int i = k; i < n; ++i) p[i] -= 0.5 * scale * along * v[i];
        for (int i = k; i < n; ++i)
            for (int j = k; j < n; ++j) a[int64_t{i} * n + j] -= v[i] * p[j] + p[i] * v[j];
        for (int i = 0; i < n; ++i) {
            double value = 0.0;
            for (int j = k + 1; j < n; ++j) value += q[int64_t{i} * n + j] * v[j];
            for (int j = k + 1; j < n; ++j) q[int64_t{i} * n + j] -= scale * value * v[j];
        }
    }
    for (int i = 0; i < n; ++i) values[i] = a[int64_t{i} * n + i];
    for (int i = 0; i + 1 < n; ++i) off[i] = a[int64_t{i + 1} * n + i];
    for (int low = 0; low < n; ++low) {
        for (int turn = 0; turn < 60; ++turn) {
            int high = low;
            while (high + 1 < n && std::abs(off[high]) > std::numeric_limits<double>::epsilon() *
                                                             (std::abs(values[high]) + std::abs(values[high + 1])))
                ++high;
            if (high == low) break;
            // Wilkinson's shift.
            double g = (values[low + 1] - values[low]) / (2.0 * off[low]);
            double r = std::hypot(g, 1.0);
            g = values[high] - values[low] + off[low] / (g + (g >= 0.0 ? r : -r));
            double s = 1.0, c = 1.0, shift = 0.0;
            int i = high - 1;
            for (; i >= low; --i) {
                const double f = s * off[i], b = c * off[i];
                r = std::hypot(f, g);
                off[i + 1] = r;
                if (r == 0.0) {
                    values[i + 1] -= shift;
                    off[high] = 0.0;
                    break;
                }
                s = f / r;
                c = g / r;
                g = values[i + 1] - shift;
                r = (values[i] - g) * s + 2.0 * c * b;
                shift = s * r;
                values[i + 1] = g + shift;
                g = c * r - b;
                for (int row = 0; row < n; ++row) {
                    double* at = q.data() + int64_t{row} * n;
                    const double after = at[i + 1];
                    at[i + 1] = s * at[i] + c * after;
                    at[i] = c * at[i] - s * after;
                }
            }
            if (r == 0.0 && i >= low) continue;
            values[low] -= shift;
            off[low] = g;
            off[high] = 0.0;
        }
    }
    std::copy(q.begin(), q.end(), a);
}

// Derivative of the log of the gamma function at positive x.
inline double digamma(double x) {
    double value = 0.0;
    for (; x < 10.0; x += 1.0) value -= 1.0 / x;
    const double inverse = 1.0 / x, square = inverse * inverse;
    // The asymptotic series, with Bernoulli's numbers over twice their order.
    const double series =
        square *
        (1.0 / 12 -
         square *
             (1.0 / 120 -
              square * (1.0 / 252 -
                        square * (1.0 / 240 -
                                  square * (1.0 / 132 - square * (691.0 / 32760 -
                                                                  square * (1.0 / 12 - square * 3617.0 / 8160)))))));
    return value + std::log(x) - 0.5 * inverse - series;
}

}  // namespace reticulum
