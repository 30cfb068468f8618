// Histograms of statistics by side of cuts, direction and bin.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels.hpp"
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

// Replaces each value (directions, n) by its bin: the number of edges below it.
void bins_of_values(const Grid& grid, int n, double* value) {
    for (int direction = 0; direction < grid.directions; ++direction) {
        const double* edge = grid.edge + int64_t{direction} * grid.edges;
        double* at = value + int64_t{direction} * n;
        for (int b = 0; b < n; b += kLanes) {
            const Vec x = load(at + b);
            Bits bin = {};
            for (int e = 0; e < grid.edges; ++e) bin -= x > edge[e];
            store(at + b, __builtin_convertvector(bin, Vec));
        }
    }
}

void histogram(const Grid& grid, const Block& block, int k, const double* mass, double* out, Scratch& scratch) {
    const int n = block.n, bins = grid.edges + 1;
    const bool by_code = block.statistics == nullptr;
    const int groups = 1 + grid.cuts;  // all rows, then the left of each cut
    const int size = padded_groups(groups * (by_code ? 1 : k));
    const int64_t cells = by_code ? int64_t{k} * size : size;
    const int padded = padded_groups(groups), width = grid.width;
    Parts<double> parts(scratch, int64_t{n} * (grid.directions + padded + size + width) + int64_t{width} * padded);
    double* value = parts.next(int64_t{grid.directions} * n);  // then the bins
    double* side = parts.next(int64_t{padded} * n);            // (n, padded)
    double* shares = parts.next(int64_t{size} * n);            // (n, size)
    double* plane = parts.next(int64_t{width} * padded);       // (width, padded)
    double* row = parts.next(int64_t{n} * width);              // (n, width)
    product(grid.direction, grid.directions, width, block.design, block.stride, value, n);
    sides_by_row(grid, block, padded, plane, row, side);
    bins_of_values(grid, n, value);
    for (int b = 0; b < n; ++b) {
        const double* inside = side + int64_t{b} * padded;
        double* share = shares + int64_t{b} * size;
        if (by_code) {
            for (int s = 0; s < size; s += kLanes) store(share + s, load(inside + s) > 0.0 ? all(mass[b]) : Vec{});
            continue;
        }
        std::fill_n(share, size, 0.0);
        for (int s = 0; s < k; ++s) {
            const double statistic = mass[b] * block.statistics[s * block.statistics_stride + b];
            for (int group = 0; group < groups; ++group) share[group * k + s] = inside[group] > 0.0 ? statistic : 0.0;
        }
    }
    // Rows are counted direction by direction, because the bins of one direction stay in cache.
    for (int direction = 0; direction < grid.directions; ++direction) {
        double* bin = out + int64_t{direction} * bins * cells + (by_code ? int64_t{block.code} * size : 0);
        for (int b = 0; b < n; ++b) {
            if (mass[b] == 0.0) continue;
            double* to = bin + static_cast<int64_t>(value[int64_t{direction} * n + b]) * cells;
            const double* share = shares + int64_t{b} * size;
            for (int s = 0; s < size; s += kLanes) store(to + s, load(to + s) + load(share + s));
        }
    }
}

}  // namespace
}  // namespace reticulum
