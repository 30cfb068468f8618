// Products of small matrices with columns of rows, in tiles of sums that stay in registers.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <cstdint>
#include <type_traits>

#include "vectors.hpp"

namespace reticulum {
namespace {

// Sizes of tiles, so that the sums of one fill the registers of the instruction set (32 vectors with AVX-512, else 16).
#if defined(__AVX512F__)
constexpr int kTileRows = 4, kTileVectors = 4, kTileDots = 4, kTileCurvatures = 6, kTileColumns = 4, kTileGates = 4;
#else
constexpr int kTileRows = 4, kTileVectors = 2, kTileDots = 3, kTileCurvatures = 3, kTileColumns = 4, kTileGates = 4;
#endif

// Calls `work` with the size as a compile-time constant; the size is at most `Most`.
template <int Most, typename Work>
inline void with_size(int size, Work work) {
    if constexpr (Most > 1)
        if (size < Most) return with_size<Most - 1>(size, work);
    work(std::integral_constant<int, Most>());
}

// Calls `work` with the size and the beginning of each tile. Tiles have at most `Most` members and are about equally
// large, as a small tile takes almost as long as a full one.
template <int Most, typename Work>
inline void in_tiles(int count, Work work) {
    for (int at = 0; at < count;) {
        const int tiles = (count - at + Most - 1) / Most, size = (count - at + tiles - 1) / tiles;
        with_size<Most>(size, [&](auto constant) { work(constant, at); });
        at += size;
    }
}

// Sums that stay in registers. They are set to zero one by one, because compilers leave an array in memory that is set
// to zero as a whole.
template <typename Real, int R, int J>
struct Tile {
    VecOf<Real> sums[R][J];
    Tile() {
        for (auto& row : sums)
            for (auto& sum : row) sum = VecOf<Real>{};
    }
};

// out (R, V vectors) = matrix (R, width) times columns.
template <int R, int V, typename Real>
inline void product_tile(const Real* matrix, int width, const Real* columns, int64_t stride, Real* out,
                         int64_t out_stride) {
    constexpr int kLanes = kLanesOf<Real>;
    Tile<Real, R, V> acc;
    for (int j = 0; j < width; ++j) {
        VecOf<Real> column[V];
        for (int v = 0; v < V; ++v) column[v] = load(columns + j * stride + v * kLanes);
        for (int r = 0; r < R; ++r) {
            const Real factor = matrix[r * width + j];
            for (int v = 0; v < V; ++v) acc.sums[r][v] += factor * column[v];
        }
    }
    for (int r = 0; r < R; ++r)
        for (int v = 0; v < V; ++v) store(out + r * out_stride + v * kLanes, acc.sums[r][v]);
}

// The first n of out (rows, out_stride) = matrix (rows, width) times columns (width, stride).
template <typename Real>
void product(const Real* matrix, int rows, int width, const Real* columns, int64_t stride, Real* out,
             int64_t out_stride, int n) {
    constexpr int kLanes = kLanesOf<Real>;
    in_tiles<kTileRows>(rows, [&](auto R, int r) {
        const Real* factors = matrix + int64_t{r} * width;
        Real* to = out + r * out_stride;
        int b = 0;
        for (; b + kTileVectors * kLanes <= n; b += kTileVectors * kLanes)
            product_tile<R, kTileVectors>(factors, width, columns + b, stride, to + b, out_stride);
        for (; b < n; b += kLanes) product_tile<R, 1>(factors, width, columns + b, stride, to + b, out_stride);
    });
}

// out (rows, n) = matrix (rows, width) times columns (width, stride).
template <typename Real>
void product(const Real* matrix, int rows, int width, const Real* columns, int64_t stride, Real* out, int n) {
    product(matrix, rows, width, columns, stride, out, n, n);
}

// out[r * out_stride + j] += left[r] . right[j] for R rows and J columns.
template <int R, int J, typename Real>
inline void dot_tile(const Real* left, int n, const Real* right, int64_t stride, double* out, int64_t out_stride) {
    Tile<Real, R, J> acc;
    for (int b = 0; b < n; b += kLanesOf<Real>) {
        VecOf<Real> column[J];
        for (int j = 0; j < J; ++j) column[j] = load(right + j * stride + b);
        for (int r = 0; r < R; ++r) {
            const VecOf<Real> row = load(left + int64_t{r} * n + b);
            for (int j = 0; j < J; ++j) acc.sums[r][j] += row * column[j];
        }
    }
    for (int r = 0; r < R; ++r)
        for (int j = 0; j < J; ++j) out[r * out_stride + j] += sum(acc.sums[r][j]);
}

// out (rows, width) += left (rows, n) times the transpose of right (width, stride).
template <typename Real>
void add_dots(const Real* left, int rows, int n, const Real* right, int64_t stride, int width, double* out) {
    in_tiles<kTileRows>(rows, [&](auto R, int r) {
        in_tiles<kTileDots>(width, [&](auto J, int j) {
            dot_tile<R, J>(left + int64_t{r} * n, n, right + j * stride, stride, out + int64_t{r} * width + j, width);
        });
    });
}

// out[r * pairs + j] += left[r] . (first * right[j]) for R rows and J columns.
template <int R, int J, typename Real>
inline void curvature_tile(const Real* left, int n, const Real* first, const Real* right, int64_t stride, double* out,
                           int64_t pairs) {
    Tile<Real, R, J> acc;
    for (int b = 0; b < n; b += kLanesOf<Real>) {
        const VecOf<Real> factor = load(first + b);
        VecOf<Real> column[J];
        for (int j = 0; j < J; ++j) column[j] = factor * load(right + j * stride + b);
        for (int r = 0; r < R; ++r) {
            const VecOf<Real> row = load(left + int64_t{r} * n + b);
            for (int j = 0; j < J; ++j) acc.sums[r][j] += row * column[j];
        }
    }
    for (int r = 0; r < R; ++r)
        for (int j = 0; j < J; ++j) out[r * pairs + j] += sum(acc.sums[r][j]);
}

// out (rows, pairs) += sum over b of left (rows, n) times the upper triangle of x x', for the rows x of the design.
// `skip` places are left out at the end of each row of the triangle.
template <typename Real>
void add_curvatures(const Real* left, int rows, int n, const Real* design, int64_t stride, int width, int skip,
                    double* out, int64_t pairs) {
    in_tiles<kTileCurvatures>(rows, [&](auto R, int r) {
        double* to = out + r * pairs;
        for (int i = 0; i < width; to += width - i + skip, ++i)
            in_tiles<kTileColumns>(width - i, [&](auto J, int j) {
                curvature_tile<R, J>(left + int64_t{r} * n, n, design + i * stride, design + (i + j) * stride, stride,
                                     to + j, pairs);
            });
    });
}

// out (rows, width, gaps) += sum over b of left (rows, n) times first (width, stride) times second (gaps, stride).
template <typename Real>
void add_mixed(const Real* left, int rows, int n, const Real* first, int width, const Real* second, int gaps,
               int64_t stride, double* out) {
    const int64_t pairs = int64_t{width} * gaps;
    in_tiles<kTileCurvatures>(rows, [&](auto R, int r) {
        for (int i = 0; i < width; ++i)
            in_tiles<kTileColumns>(gaps, [&](auto J, int j) {
                curvature_tile<R, J>(left + int64_t{r} * n, n, first + i * stride, second + j * stride, stride,
                                     out + r * pairs + int64_t{i} * gaps + j, pairs);
            });
    });
}

}  // namespace
}  // namespace reticulum
