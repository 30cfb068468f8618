// Histograms of statistics by side of cuts, direction and bin.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels.hpp"
#include "moments.hpp"
#include "tiles.hpp"

namespace reticulum {
namespace {

// Sets `side` (n, padded) to values that are positive where a row lies inside of a group: all rows inside of the first
// one, those to the left of a cut inside of its group, and none inside of padding. `plane` (width, padded) and `row`
// (n, width) are overwritten.
void sides_by_row(const Grid& grid, const Block& block, int padded, double* plane, double* row, double* side) {
    const int n = block.n, width = grid.width;
    std::fill_n(plane, int64_t{width} * padded, 0.0);
    // The first column of the design is 1.
    plane[0] = 1.0;
    for (int j = 0; j < width; ++j) {
        for (int cut = 0; cut < grid.cuts; ++cut)
            plane[int64_t{j} * padded + 1 + cut] = grid.cut[int64_t{cut} * width + j];
        for (int b = 0; b < n; ++b) row[int64_t{b} * width + j] = block.design[j * block.stride + b];
    }
    product(row, n, width, plane, padded, side, padded);
}

// Replaces each value (n) along a direction by its bin: the number of edges below it.
void bins_of_values(const Grid& grid, int direction, int n, double* at) {
    const double* edge = grid.edge + int64_t{direction} * grid.edges;
    for (int b = 0; b < n; b += kLanes) {
        const Vec x = load(at + b);
        Bits bin = {};
        for (int e = 0; e < grid.edges; ++e) bin -= x > edge[e];
        store(at + b, __builtin_convertvector(bin, Vec));
    }
}

// Sums of a tile: statistics times groups, as many as stay in registers.
#if defined(__AVX512F__)
constexpr int kTileSums = 24, kTileGroups = 8;
#else
constexpr int kTileSums = 12, kTileGroups = 4;
#endif
constexpr int kTileStatistics = 6;

// Adds to out (S, V vectors) statistics (S) times sides (V vectors) of `count` rows.
template <int S, int V>
inline void bin_tile(const double* side, int64_t padded, const double* shares, int64_t k, const int32_t* row, int count,
                     double* out, int64_t size) {
    Tile<double, S, V> acc;
    for (int r = 0; r < count; ++r) {
        const double* inside = side + row[r] * padded;
        const double* share = shares + row[r] * k;
        Vec group[V];
        for (int v = 0; v < V; ++v) group[v] = load(inside + v * kLanes);
        for (int s = 0; s < S; ++s)
            for (int v = 0; v < V; ++v) acc.sums[s][v] += share[s] * group[v];
    }
    for (int s = 0; s < S; ++s)
        for (int v = 0; v < V; ++v) {
            double* to = out + s * size + v * kLanes;
            store(to, load(to) + acc.sums[s][v]);
        }
}

// Adds to out (k, size) the statistics `shares` (n, k) of `count` rows by group.
inline void add_bin(const double* side, int size, const double* shares, int k, const int32_t* row, int count,
                    double* out) {
    in_tiles<kTileStatistics>(k, [&](auto S, int s) {
        constexpr int kMost = std::min(kTileGroups, kTileSums / int{S});
        in_tiles<kMost>(size / kLanes, [&](auto V, int v) {
            bin_tile<S, V>(side + v * kLanes, size, shares + s, k, row, count, out + int64_t{s} * size + v * kLanes,
                           size);
        });
    });
}

// Sorts the rows of a block by bin, those without mass left out: `order` (n) and `start` (bins + 1).
inline void sort_by_bin(const double* bin, const double* mass, int n, int bins, int32_t* order, int32_t* start) {
    std::fill_n(start, bins + 1, 0);
    for (int b = 0; b < n; ++b)
        if (mass[b] != 0.0) ++start[static_cast<int>(bin[b]) + 1];
    for (int b = 0; b < bins; ++b) start[b + 1] += start[b];
    for (int b = 0; b < n; ++b)
        if (mass[b] != 0.0) order[start[static_cast<int>(bin[b])]++] = b;
    for (int b = bins; b > 0; --b) start[b] = start[b - 1];
    start[0] = 0;
}

// Sets shares (n, k) to mass times the statistics of rows that do not depend on the direction.
inline void fill_shares(const Block& block, int k, const double* mass, double* shares) {
    for (int b = 0; b < block.n; ++b) {
        double* share = shares + int64_t{b} * k;
        if (block.statistics == nullptr) {
            share[0] = mass[b];
        } else if (block.factors) {
            const double y = block.statistics[b];
            share[0] = mass[b] * (y * y + block.variance[b]);
            share[1] = mass[b] * y;
            share[2] = mass[b];
        } else {
            for (int s = 0; s < k; ++s) share[s] = mass[b] * block.statistics[s * block.statistics_stride + b];
        }
    }
}

// Sets shares (n, 6) to mass times the products of pairs of residual, 1 and place along a direction.
inline void fill_slope_shares(const Block& block, const double* mass, const double* residual, const double* place,
                              double* shares) {
    for (int b = 0; b < block.n; ++b) {
        const double m = mass[b], r = residual[b], z = place[b];
        double* share = shares + int64_t{b} * 6;
        share[0] = m * (r * r + block.variance[b]);
        share[1] = m * r;
        share[2] = m * r * z;
        share[3] = m;
        share[4] = m * z;
        share[5] = m * z * z;
    }
}

void histogram(const Grid& grid, const Block& block, int k, const double* mass, const double* coefficients, double* out,
               Scratch& scratch) {
    const int n = block.n, bins = grid.edges + 1, width = grid.width;
    const bool by_code = block.statistics == nullptr;
    const int size = padded_groups(1 + grid.cuts);  // all rows, then the left of each cut
    const int64_t cells = int64_t{k} * size, summed = by_code ? 1 : k;
    Parts<double> parts(
        scratch, int64_t{n} * (grid.directions + size + summed + width + 3) + int64_t{width} * size + bins + kLanes);
    double* value = parts.next(int64_t{grid.directions} * n);
    double* side = parts.next(int64_t{size} * n);       // (n, size): 1 inside of a group
    double* shares = parts.next(summed * n);            // (n, summed)
    double* plane = parts.next(int64_t{width} * size);  // (width, size)
    double* row = parts.next(int64_t{n} * width);       // (n, width)
    double* residual = parts.next(n);
    double* place = parts.next(n);
    int32_t* order = reinterpret_cast<int32_t*>(parts.next(n));
    int32_t* start = reinterpret_cast<int32_t*>(parts.next(bins + 1));
    product(grid.direction, grid.directions, width, block.design, block.stride, value, n);
    sides_by_row(grid, block, size, plane, row, side);
    for (int64_t at = 0; at < int64_t{size} * n; at += kLanes)
        store(side + at, load(side + at) > 0.0 ? all(1.0) : Vec{});
    if (coefficients)
        residuals(block, coefficients, residual);
    else
        fill_shares(block, static_cast<int>(summed), mass, shares);
    // Direction by direction, bin by bin: the sums of a bin stay in registers.
    for (int direction = 0; direction < grid.directions; ++direction) {
        double* bin = value + int64_t{direction} * n;
        if (coefficients) {
            std::copy_n(bin, n, place);
            fill_slope_shares(block, mass, residual, place, shares);
        }
        bins_of_values(grid, direction, n, bin);
        sort_by_bin(bin, mass, n, bins, order, start);
        double* to = out + int64_t{direction} * bins * cells + (by_code ? int64_t{block.code} * size : 0);
        for (int b = 0; b < bins; ++b)
            if (start[b + 1] > start[b])
                add_bin(side, size, shares, static_cast<int>(summed), order + start[b], start[b + 1] - start[b],
                        to + b * cells);
    }
}

}  // namespace
}  // namespace reticulum
