// Statistics of rows: what leaves sum them up to, and how likely a leaf makes them.
//
// The statistics of a row are a single one at its code, a column of numbers, or all products of pairs of its
// *factors*: of the target, 1 and the columns that leaves are linear in. Products are never stored, but made where they
// are summed.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <cstdint>

#include "kernels.hpp"
#include "tiles.hpp"

namespace reticulum {
namespace {

// Tiles of quadratic forms: each of the rows and vectors has two sums.
constexpr int kTileForms = 4, kTileFormVectors = 2;

// out (R, V vectors) = sum_{i <= j} matrix[i, j] factor_i factor_j + matrix[0, 0] variance, for R packed triangles.
template <int R, int V, typename Real>
inline void form_tile(const Real* packed, int64_t pairs, const Real* factors, int64_t stride, int count,
                      const Real* variance, Real* out, int64_t out_stride) {
    constexpr int kLanes = kLanesOf<Real>;
    Tile<Real, R, V> total;
    for (int v = 0; v < V; ++v)
        for (int r = 0; r < R; ++r) total.sums[r][v] = packed[r * pairs] * load(variance + v * kLanes);
    int64_t at = 0;
    for (int i = 0; i < count; ++i) {
        Tile<Real, R, V> inner;
        for (int j = i; j < count; ++j, ++at)
            for (int v = 0; v < V; ++v) {
                const VecOf<Real> column = load(factors + j * stride + v * kLanes);
                for (int r = 0; r < R; ++r) inner.sums[r][v] += packed[r * pairs + at] * column;
            }
        for (int v = 0; v < V; ++v) {
            const VecOf<Real> column = load(factors + i * stride + v * kLanes);
            for (int r = 0; r < R; ++r) total.sums[r][v] += inner.sums[r][v] * column;
        }
    }
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < V; ++v) store(out + r * out_stride + v * kLanes, total.sums[r][v]);
}

// Sets out (leaves, n) to parameters (leaves, k) times the statistics of the rows, which have no codes.
template <typename Real>
void multiply_statistics(const Real* parameters, int leaves, int k, const BlockOf<Real>& block, Real* out) {
    const int n = block.n;
    if (!block.factors) {
        product(parameters, leaves, k, block.statistics, block.statistics_stride, out, n);
        return;
    }
    constexpr int kLanes = kLanesOf<Real>, kStep = kTileFormVectors * kLanes;
    const int64_t stride = block.statistics_stride;
    in_tiles<kTileForms>(leaves, [&](auto R, int r) {
        const Real* packed = parameters + int64_t{r} * k;
        Real* to = out + int64_t{r} * n;
        int b = 0;
        for (; b + kStep <= n; b += kStep)
            form_tile<R, kTileFormVectors>(packed, k, block.statistics + b, stride, block.factors, block.variance + b,
                                           to + b, n);
        for (; b < n; b += kLanes)
            form_tile<R, 1>(packed, k, block.statistics + b, stride, block.factors, block.variance + b, to + b, n);
    });
}

// Adds share (leaves, n) times the statistics of the rows, which have no codes, to out (leaves, k).
template <typename Real>
void add_statistics(const Real* share, int leaves, const BlockOf<Real>& block, int k, double* out) {
    const int n = block.n;
    if (!block.factors) {
        add_dots(share, leaves, n, block.statistics, block.statistics_stride, k, out);
        return;
    }
    add_curvatures(share, leaves, n, block.statistics, block.statistics_stride, block.factors, 0, out, int64_t{k});
    for (int leaf = 0; leaf < leaves; ++leaf) {
        VecOf<Real> variance = {};
        for (int b = 0; b < n; b += kLanesOf<Real>)
            variance += load(share + int64_t{leaf} * n + b) * load(block.variance + b);
        out[int64_t{leaf} * k] += sum(variance);
    }
}

}  // namespace
}  // namespace reticulum
