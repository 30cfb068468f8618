// Cholesky factors of small symmetric matrices, and inverses from them.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace reticulum {
namespace {

// Cholesky factor of a symmetric matrix (n, n) in its upper triangle, in place; false if it is not positive definite.
//
// Of the matrix, too, only the upper triangle is read. Inner loops run along rows, where compilers can use vectors.
bool cholesky(double* a, int n) {
    for (int k = 0; k < n; ++k) {
        double* row = a + int64_t{k} * n;
        if (!(row[k] > 0.0)) return false;
        row[k] = std::sqrt(row[k]);
        const double inverse = 1.0 / row[k];
        for (int j = k + 1; j < n; ++j) row[j] *= inverse;
        for (int i = k + 1; i < n; ++i) {
            double* other = a + int64_t{i} * n;
            const double factor = row[i];
            for (int j = i; j < n; ++j) other[j] -= factor * row[j];
        }
    }
    return true;
}

// Inverse (n, n) of a matrix from its Cholesky factor in an upper triangle; `work` (n, n) is overwritten.
void inverse_from_cholesky(const double* factor, int n, double* work, double* inverse) {
    // The rows of the factor's inverse, transposed, then the sum of their products.
    for (int i = 0; i < n; ++i) {
        double* row = work + int64_t{i} * n;
        std::fill(row, row + i, 0.0);
        for (int k = 0; k < i; ++k) {
            const double* before = work + int64_t{k} * n;
            const double part = factor[int64_t{k} * n + i];
            for (int j = 0; j <= k; ++j) row[j] -= part * before[j];
        }
        const double pivot = 1.0 / factor[int64_t{i} * n + i];
        for (int j = 0; j < i; ++j) row[j] *= pivot;
        row[i] = pivot;
    }
    std::fill(inverse, inverse + int64_t{n} * n, 0.0);
    for (int k = 0; k < n; ++k) {
        const double* row = work + int64_t{k} * n;
        for (int i = 0; i <= k; ++i) {
            double* to = inverse + int64_t{i} * n;
            const double part = row[i];
            for (int j = 0; j <= i; ++j) to[j] += part * row[j];
        }
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) inverse[int64_t{j} * n + i] = inverse[int64_t{i} * n + j];
}

}  // namespace
}  // namespace reticulum
