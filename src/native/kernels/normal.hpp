// Leaves of numbers: Bayesian linear regressions, for all slope precisions at once, one in each lane of a vector.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels.hpp"
#include "tiles.hpp"

namespace reticulum {
namespace {

constexpr double kLog2Pi = 1.8378770664093454836;
// Share of a pivot that rounding leaves at least.
constexpr double kLeastPivot = 1e-15;
// Columns of an inverse that are made at once.
constexpr int kTileInverse = 4;
// A slope precision with a smaller share of the posterior has no part in what is expected.
constexpr double kNegligibleWeight = 1e-14;

// Replaces a symmetric matrix (n, n) of vectors by its Cholesky factor; only the lower triangle is read and written.
// The diagonal is set to the inverses of that of the factor. A pivot is at least a share of the number that it was, as
// rounding may leave less than nothing of a column that follows from the others.
inline void factorize(Vec* a, int n) {
    for (int j = 0; j < n; ++j) {
        Vec* row = a + int64_t{j} * n;
        Vec pivot = row[j];
        for (int k = 0; k < j; ++k) pivot -= row[k] * row[k];
        Vec root = larger(pivot, kLeastPivot * row[j]);
        for (int lane = 0; lane < kLanes; ++lane) root[lane] = 1.0 / std::sqrt(root[lane]);
        row[j] = root;
        int i = j + 1;
        for (; i + 4 <= n; i += 4) {
            Vec* below[4] = {a + int64_t{i} * n, a + int64_t{i + 1} * n, a + int64_t{i + 2} * n, a + int64_t{i + 3} * n};
            Vec sums[4] = {below[0][j], below[1][j], below[2][j], below[3][j]};
            for (int k = 0; k < j; ++k) {
                const Vec factor = row[k];
                for (int r = 0; r < 4; ++r) sums[r] -= below[r][k] * factor;
            }
            for (int r = 0; r < 4; ++r) below[r][j] = sums[r] * root;
        }
        for (; i < n; ++i) {
            Vec* below = a + int64_t{i} * n;
            Vec sum = below[j];
            for (int k = 0; k < j; ++k) sum -= below[k] * row[k];
            below[j] = sum * root;
        }
    }
}

// Replaces x (n) by the solution of L x = x, for a factor of `factorize`.
inline void solve_lower(const Vec* a, int n, Vec* x) {
    for (int i = 0; i < n; ++i) {
        Vec sum = x[i];
        for (int k = 0; k < i; ++k) sum -= a[int64_t{i} * n + k] * x[k];
        x[i] = sum * a[int64_t{i} * n + i];
    }
}

// Replaces x (n) by the solution of L' x = x.
inline void solve_upper(const Vec* a, int n, Vec* x) {
    for (int i = n - 1; i >= 0; --i) {
        x[i] *= a[int64_t{i} * n + i];
        for (int k = 0; k < i; ++k) x[k] -= a[int64_t{i} * n + k] * x[i];
    }
}

// Adds to out (n, n), its lower triangle, sum_lanes weight (L L')^-1. The factor is replaced by its inverse.
inline void add_inverse(Vec* a, int n, Vec weight, double* out) {
    // The inverse of the factor, row by row: row i takes only rows of the inverse above it.
    for (int i = 1; i < n; ++i) {
        Vec* row = a + int64_t{i} * n;
        const Vec pivot = row[i];
        in_tiles<kTileInverse>(i, [&](auto J, int j) {
            Vec sums[J];
            for (int t = 0; t < J; ++t) {
                sums[t] = row[j + t] * a[int64_t{j + t} * n + j + t];
                for (int k = j + t + 1; k < std::min(j + int{J}, i); ++k) sums[t] += row[k] * a[int64_t{k} * n + j + t];
            }
            for (int k = j + J; k < i; ++k)
                for (int t = 0; t < J; ++t) sums[t] += row[k] * a[int64_t{k} * n + j + t];
            for (int t = 0; t < J; ++t) row[j + t] = sums[t] * -pivot;
        });
    }
    for (int i = 0; i < n; ++i)
        in_tiles<kTileInverse>(i + 1, [&](auto J, int j) {
            Vec sums[J];
            for (int t = 0; t < J; ++t) sums[t] = Vec{};
            for (int k = i; k < n; ++k) {
                const Vec factor = a[int64_t{k} * n + i];
                for (int t = 0; t < J; ++t) sums[t] += factor * a[int64_t{k} * n + j + t];
            }
            for (int t = 0; t < J; ++t) out[int64_t{i} * n + j + t] += sum(weight * sums[t]);
        });
}

// The sums of a leaf, taken apart: products of pairs of y, 1 and x are packed by rows of the upper triangle.
struct LeafSums {
    double square, target, count;
    const double *with_target, *sums, *products;

    LeafSums(const double* statistics, int d)
        : square(statistics[0]), target(statistics[1]), count(statistics[2 + d]), with_target(statistics + 2),
          sums(statistics + 3 + d), products(statistics + 3 + 2 * d) {}
};

// Where the posterior of one leaf is kept: for each slope precision, padded to whole vectors.
struct NormalWork {
    double *centred, *right;          // (d, d) and (d): normal equations without the offset
    double *log_evidence, *rate;      // (padded precisions)
    double* inverse;                  // (d, d): sum of weight times inverse
    double *mean, *scaled;            // (1 + d)
    Vec *factors, *solution;          // (vectors, d, d) and (vectors, d)
};

inline int64_t normal_floats(const NormalPrior& prior) {
    const int64_t d = prior.n_slopes, vectors = (prior.n_precisions + kLanes - 1) / kLanes;
    return 2 * d * d + d + 2 * vectors * kLanes + 2 * (1 + d) + vectors * kLanes * (d * d + d) + 8 * kLanes;
}

// Sets log evidence (1), expected parameters (k) and mean coefficients (1 + d) of one leaf, where they are not null.
//
// The caller adds what depends on the count alone: `log_gamma`, the log of the gamma function of the shape less that of
// the prior's, is part of the log evidence, and `digamma` of the shape is part of what is expected.
void normal_leaf(const NormalPrior& prior, const double* statistics, double* log_evidence, double* expected,
                 double* average, Scratch& scratch) {
    const int d = prior.n_slopes, K = prior.n_precisions, vectors = (K + kLanes - 1) / kLanes, lanes = vectors * kLanes;
    Parts<double> parts(scratch, normal_floats(prior));
    const auto vector_part = [&](int64_t size) {
        return reinterpret_cast<Vec*>(aligned(parts.next(size * kLanes)));
    };
    NormalWork work;
    work.factors = vector_part(int64_t{vectors} * d * d + 1);
    work.solution = vector_part(int64_t{vectors} * d + 1);
    work.log_evidence = reinterpret_cast<double*>(vector_part(vectors + 1));
    work.rate = reinterpret_cast<double*>(vector_part(vectors + 1));
    work.centred = parts.next(int64_t{d} * d);
    work.right = parts.next(d);
    work.inverse = parts.next(int64_t{d} * d);
    work.mean = parts.next(1 + d);
    const LeafSums leaf(statistics, d);
    const double total = prior.offset_precision + leaf.count;
    for (int i = 0, at = 0; i < d; ++i) {
        work.right[i] = leaf.with_target[i] - leaf.target * leaf.sums[i] / total;
        for (int j = i; j < d; ++j, ++at)
            work.centred[int64_t{j} * d + i] = leaf.products[at] - leaf.sums[i] * leaf.sums[j] / total;
    }
    const double residual = leaf.square - leaf.target * leaf.target / total;
    const double shape = prior.shape + 0.5 * leaf.count;
    const double same = prior.shape * std::log(prior.rate) - std::log(double(K)) -
                        0.5 * std::log1p(leaf.count / prior.offset_precision) -
                        leaf.count * (0.5 * kLog2Pi + prior.log_scale);
    double top = -1e308;
    for (int v = 0; v < vectors; ++v) {
        Vec* factor = work.factors + int64_t{v} * d * d;
        Vec* solution = work.solution + int64_t{v} * d;
        Vec precision;
        for (int lane = 0; lane < kLanes; ++lane) {
            const int p = v * kLanes + lane;
            precision[lane] = prior.precisions[p < K ? p : K - 1];
        }
        for (int i = 0; i < d; ++i) {
            for (int j = 0; j < i; ++j) factor[int64_t{i} * d + j] = all(work.centred[int64_t{i} * d + j]);
            // Rounding may leave less than nothing of a column that hardly varies.
            factor[int64_t{i} * d + i] = all(std::fmax(work.centred[int64_t{i} * d + i], 0.0)) + precision;
            solution[i] = all(work.right[i]);
        }
        Vec quadratic = {}, log_determinant = {}, pivots = all(1.0);
        factorize(factor, d);
        solve_lower(factor, d, solution);
        for (int i = 0; i < d; ++i) {
            quadratic += solution[i] * solution[i];
            pivots *= factor[int64_t{i} * d + i];
            if (i % 8 == 7) {
                log_determinant += log(pivots);
                pivots = all(1.0);
            }
        }
        log_determinant += log(pivots);
        const Vec rate = prior.rate + 0.5 * larger(all(residual) - quadratic, Vec{});
        const Vec value = (0.5 * d) * log(precision) + log_determinant - shape * log(rate) + same;
        store(work.rate + v * kLanes, rate);
        store(work.log_evidence + v * kLanes, value);
    }
    for (int p = 0; p < K; ++p) top = std::fmax(top, work.log_evidence[p]);
    double whole = 0.0;
    for (int p = 0; p < lanes; ++p) {
        work.log_evidence[p] = p < K ? std::exp(work.log_evidence[p] - top) : 0.0;
        whole += work.log_evidence[p];
    }
    if (log_evidence) *log_evidence = top + std::log(whole);
    if (!expected && !average) return;
    double* weight = work.log_evidence;
    for (int p = 0; p < lanes; ++p) weight[p] = weight[p] / whole < kNegligibleWeight ? 0.0 : weight[p] / whole;
    if (average) {
        for (int i = 0; i <= d; ++i) average[i] = 0.0;
    }
    if (expected) {
        const int k = (d + 2) * (d + 3) / 2;
        for (int i = 0; i < k; ++i) expected[i] = 0.0;
        for (int64_t i = 0; i < int64_t{d} * d; ++i) work.inverse[i] = 0.0;
    }
    double log_rate = 0.0;
    for (int v = 0; v < vectors; ++v) {
        Vec* factor = work.factors + int64_t{v} * d * d;
        Vec* solution = work.solution + int64_t{v} * d;
        solve_upper(factor, d, solution);
        for (int lane = 0; lane < kLanes; ++lane) {
            const double share = weight[v * kLanes + lane];
            if (share == 0.0) continue;
            double* mean = work.mean;
            double along = 0.0;
            for (int i = 0; i < d; ++i) {
                mean[1 + i] = solution[i][lane];
                along += mean[1 + i] * leaf.sums[i];
            }
            mean[0] = (leaf.target - along) / total;
            if (average)
                for (int i = 0; i <= d; ++i) average[i] += share * mean[i];
            if (!expected) continue;
            const double rate = work.rate[v * kLanes + lane], precision = share * shape / rate;
            log_rate += share * std::log(rate);
            expected[0] -= 0.5 * precision;
            double* products = expected + 2 + d;
            for (int i = 0, at = 0; i <= d; ++i) {
                const double scaled = precision * mean[i];
                expected[1 + i] += scaled;
                products[at++] -= 0.5 * scaled * mean[i];
                for (int j = i + 1; j <= d; ++j) products[at++] -= scaled * mean[j];
            }
        }
        if (expected) add_inverse(factor, d, load(weight + v * kLanes), work.inverse);
    }
    if (!expected) return;
    // Covariance of offset and slopes over the variance, with the offset put back in.
    double* products = expected + 2 + d;
    double of_offset = 1.0 / total;
    for (int i = 0; i < d; ++i) {
        double with_offset = 0.0;
        for (int j = 0; j < d; ++j) {
            const double value = work.inverse[i >= j ? int64_t{i} * d + j : int64_t{j} * d + i];
            with_offset -= value * leaf.sums[j] / total;
        }
        products[1 + i] -= with_offset;
        of_offset -= with_offset * leaf.sums[i] / total;
    }
    for (int i = 0, at = 1 + d; i < d; ++i) {
        products[at++] -= 0.5 * work.inverse[int64_t{i} * d + i];
        for (int j = i + 1; j < d; ++j) products[at++] -= work.inverse[int64_t{j} * d + i];
    }
    products[0] -= 0.5 * (of_offset + kLog2Pi + log_rate) + prior.log_scale;
}

}  // namespace
}  // namespace reticulum
