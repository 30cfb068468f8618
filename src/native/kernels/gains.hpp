// Evidence gained by thresholds, from histograms of classes.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels.hpp"
#include "vectors.hpp"

namespace reticulum {
namespace {

// A whole without a part: 0 where nothing but their rounding would be left.
inline Vec remainder(Vec whole, Vec part) {
    const Vec left = whole - part;
    return left > 1e-12 * whole ? left : Vec{};
}

// Log evidence of counts (k, stride) with a Dirichlet prior, relative to that of no rows. Where `others` is given, the
// counts are those of `others` without `counts`.
inline Vec log_beta(const double* counts, int stride, const double* others, int k, const double* prior) {
    Vec total = {}, out = {}, factor = all(1.0), total_factor = all(1.0);
    for (int code = 0; code < k; ++code) {
        Vec count = load(counts + int64_t{code} * stride);
        if (others) count = remainder(load(others + int64_t{code} * stride), count);
        count += prior[code];
        total += count;
        out += log_gamma(count, factor);
        // The product of more than 8 factors might overflow or underflow a double.
        if (code % 8 == 7) out -= log(std::exchange(factor, all(1.0)));
    }
    out -= log_gamma(total, total_factor);
    return out - log(factor / total_factor);
}

// Sets `right` (k, size) to the counts to the right of each cut: those of the first group, which holds all rows,
// without those to the left.
inline void subtract_left(const double* left, int k, int size, double* right) {
    for (int code = 0; code < k; ++code)
        for (int64_t at = int64_t{code} * size; at < int64_t{code + 1} * size; at += kLanes)
            store(right + at, remainder(all(left[int64_t{code} * size]), load(left + at)));
}

void threshold_gains(const double* histogram, int bins, int k, int size, const double* prior, double* out,
                     Scratch& scratch) {
    const int64_t cells = int64_t{k} * size;
    const int edges = bins - 1;
    Parts<double> parts(scratch, 4 * cells + 2 * size + int64_t{k} * kLanes);
    // Counts of all bins and of the bins below an edge, for either side of cuts.
    double* total = parts.next(cells);
    double* below = parts.next(cells);
    double* right_total = parts.next(cells);
    double* right_below = parts.next(cells);
    double* whole = parts.next(2 * size);  // (2, size): log evidence of either side without an edge
    double* nothing = parts.next(int64_t{k} * kLanes);
    std::fill(total, total + 4 * cells, 0.0);
    for (int bin = 0; bin < bins; ++bin)
        for (int64_t cell = 0; cell < cells; ++cell) total[cell] += histogram[bin * cells + cell];
    subtract_left(total, k, size, right_total);
    std::fill_n(nothing, int64_t{k} * kLanes, 0.0);
    const Vec base = log_beta(nothing, kLanes, nullptr, k, prior);
    for (int group = 0; group < size; group += kLanes)
        for (int side = 0; side < 2; ++side) {
            const double* side_total = (side ? right_total : total) + group;
            store(whole + side * size + group, log_beta(side_total, size, nullptr, k, prior) + base);
        }
    for (int edge = 0; edge < edges; ++edge) {
        const double* bin = histogram + int64_t{edge} * cells;
        for (int64_t cell = 0; cell < cells; ++cell) below[cell] += bin[cell];
        subtract_left(below, k, size, right_below);
        for (int group = 0; group < size; group += kLanes) {
            for (int side = 0; side < 2; ++side) {
                const double* side_total = (side ? right_total : total) + group;
                const double* side_below = (side ? right_below : below) + group;
                const Vec gain = log_beta(side_below, size, nullptr, k, prior) +
                                 log_beta(side_below, size, side_total, k, prior) - load(whole + side * size + group);
                for (int lane = 0; lane < kLanes; ++lane)
                    out[(int64_t{group + lane} * 2 + side) * edges + edge] = gain[lane];
            }
        }
    }
}

// Log evidence of sums of numbers (3 or 6 vectors, the latter with one slope), but for a constant and for what is
// proportional to their count.
inline Vec log_normal(const Vec* sums, bool has_slope, const NormalPrior& prior) {
    const Vec square = sums[0], target = sums[1], count = sums[has_slope ? 3 : 2];
    const Vec inverse_total = 1.0 / (prior.offset_precision + count);
    Vec residual = square - target * target * inverse_total, determinant = prior.offset_precision * inverse_total;
    if (has_slope) {
        const Vec with_target = sums[2] - target * sums[4] * inverse_total;
        const Vec spread = larger(sums[5] - sums[4] * sums[4] * inverse_total, Vec{});
        const Vec inverse = 1.0 / (spread + prior.precisions[0]);
        residual -= inverse * with_target * with_target;
        determinant *= inverse * prior.precisions[0];
    }
    const Vec shape = prior.shape + 0.5 * count, rate = prior.rate + 0.5 * larger(residual, Vec{});
    Vec factor = all(1.0);
    const Vec of_shape = log_gamma(shape, factor);
    return of_shape - shape * log(rate) + 0.5 * log(determinant / (factor * factor));
}

// Sums that remain of the whole without a part; a count of what is only rounding is 0.
inline void subtract_sums(const Vec* whole, const Vec* part, int k, bool has_slope, Vec* rest) {
    for (int s = 0; s < k; ++s) rest[s] = whole[s] - part[s];
    const int count = has_slope ? 3 : 2;
    rest[count] = remainder(whole[count], part[count]);
}

void threshold_gains_of_numbers(const double* histogram, int bins, int size, const NormalPrior& prior, double* out,
                                Scratch& scratch) {
    const bool has_slope = prior.n_slopes > 0;
    const int k = has_slope ? 6 : 3, edges = bins - 1;
    const int64_t cells = int64_t{k} * size;
    Parts<double> parts(scratch, cells + int64_t{k} * kLanes);
    double* total = parts.next(cells);
    std::fill_n(total, cells, 0.0);
    for (int bin = 0; bin < bins; ++bin)
        for (int64_t cell = 0; cell < cells; ++cell) total[cell] += histogram[bin * cells + cell];
    Vec nothing[6];
    for (Vec& sum_of : nothing) sum_of = Vec{};
    const Vec empty = log_normal(nothing, has_slope, prior);
    for (int group = 0; group < size; group += kLanes) {
        Vec left[6], right[6], left_below[6], all_below[6], right_below[6], rest[6], everything[6];
        for (int s = 0; s < k; ++s) {
            left[s] = load(total + int64_t{s} * size + group);
            everything[s] = all(total[int64_t{s} * size]);
            left_below[s] = all_below[s] = Vec{};
        }
        subtract_sums(everything, left, k, has_slope, right);
        const Vec whole[2] = {log_normal(left, has_slope, prior) + empty, log_normal(right, has_slope, prior) + empty};
        for (int edge = 0; edge < edges; ++edge) {
            const double* bin = histogram + int64_t{edge} * cells;
            for (int s = 0; s < k; ++s) {
                left_below[s] += load(bin + int64_t{s} * size + group);
                all_below[s] += all(bin[int64_t{s} * size]);
            }
            for (int side = 0; side < 2; ++side) {
                if (side) subtract_sums(all_below, left_below, k, has_slope, right_below);
                const Vec* below = side ? right_below : left_below;
                subtract_sums(side ? right : left, below, k, has_slope, rest);
                const Vec gain = log_normal(below, has_slope, prior) + log_normal(rest, has_slope, prior) - whole[side];
                for (int lane = 0; lane < kLanes; ++lane)
                    out[(int64_t{group + lane} * 2 + side) * edges + edge] = gain[lane];
            }
        }
    }
}

}  // namespace
}  // namespace reticulum
