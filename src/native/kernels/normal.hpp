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
// Doubles in a line of the cache.
constexpr int kLineDoubles = kLine / static_cast<int>(sizeof(double));
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
            Vec* below[4] = {a + int64_t{i} * n, a + int64_t{i + 1} * n, a + int64_t{i + 2} * n,
                             a + int64_t{i + 3} * n};
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
    Vec *factors, *solution;      // (vectors, d, d) and (vectors, d)
    double *log_evidence, *rate;  // (padded precisions)
    double *centred, *right;      // (d, d) and (d): normal equations without the offset
    double* inverse;              // (d, d): sum of weight times inverse
    double* mean;                 // (1 + d)

    // Numbers of so many vectors, padded to whole lines, so that what follows begins a line, too.
    static int64_t lines_of(int64_t vectors) {
        return (vectors * kLanes + kLineDoubles - 1) / kLineDoubles * kLineDoubles;
    }

    static int64_t size(int64_t d, int64_t vectors) {
        return lines_of(vectors * d * d) + lines_of(vectors * d) + 2 * lines_of(vectors) + 2 * d * d + 2 * d + 1;
    }

    NormalWork(Parts<double>& parts, int64_t d, int64_t vectors)
        : factors(reinterpret_cast<Vec*>(parts.next(lines_of(vectors * d * d)))),
          solution(reinterpret_cast<Vec*>(parts.next(lines_of(vectors * d)))),
          log_evidence(parts.next(lines_of(vectors))), rate(parts.next(lines_of(vectors))), centred(parts.next(d * d)),
          right(parts.next(d)), inverse(parts.next(d * d)), mean(parts.next(1 + d)) {}
};

// One leaf with its prior, and what of it follows from the count alone.
struct NormalLeaf {
    const NormalPrior& prior;
    const LeafSums sums;
    const NormalWork work;
    const int d, vectors;
    const double total, shape;

    NormalLeaf(const NormalPrior& given, const double* statistics, int64_t n_vectors, Parts<double>& parts)
        : prior(given), sums(statistics, given.n_slopes), work(parts, given.n_slopes, n_vectors), d(given.n_slopes),
          vectors(static_cast<int>(n_vectors)), total(given.offset_precision + sums.count),
          shape(given.shape + 0.5 * sums.count) {}

    Vec* factor(int v) const { return work.factors + int64_t{v} * d * d; }
    Vec* solution(int v) const { return work.solution + int64_t{v} * d; }
};

// Sets the normal equations of the slopes, the offset integrated out.
inline void set_equations(const NormalLeaf& leaf) {
    const LeafSums& sums = leaf.sums;
    const int d = leaf.d;
    for (int i = 0, at = 0; i < d; ++i) {
        leaf.work.right[i] = sums.with_target[i] - sums.target * sums.sums[i] / leaf.total;
        for (int j = i; j < d; ++j, ++at)
            leaf.work.centred[int64_t{j} * d + i] = sums.products[at] - sums.sums[i] * sums.sums[j] / leaf.total;
    }
}

// Sets rate and log evidence for the precisions of a vector; factor and half a solution are left for the means.
inline void solve_equations(const NormalLeaf& leaf, int v, Vec precision, double same) {
    const int d = leaf.d;
    const LeafSums& sums = leaf.sums;
    Vec *factor = leaf.factor(v), *solution = leaf.solution(v);
    for (int i = 0; i < d; ++i) {
        for (int j = 0; j < i; ++j) factor[int64_t{i} * d + j] = all(leaf.work.centred[int64_t{i} * d + j]);
        // Rounding may leave less than nothing of a column that hardly varies.
        factor[int64_t{i} * d + i] = all(std::fmax(leaf.work.centred[int64_t{i} * d + i], 0.0)) + precision;
        solution[i] = all(leaf.work.right[i]);
    }
    Vec quadratic = {}, log_determinant = {}, pivots = all(1.0);
    factorize(factor, d);
    solve_lower(factor, d, solution);
    for (int i = 0; i < d; ++i) {
        quadratic += solution[i] * solution[i];
        pivots *= factor[int64_t{i} * d + i];
        // The product of more than 8 pivots might overflow or underflow a double.
        if (i % 8 == 7) {
            log_determinant += log(pivots);
            pivots = all(1.0);
        }
    }
    log_determinant += log(pivots);
    const double residual = sums.square - sums.target * sums.target / leaf.total;
    const Vec rate = leaf.prior.rate + 0.5 * larger(all(residual) - quadratic, Vec{});
    store(leaf.work.rate + v * kLanes, rate);
    store(leaf.work.log_evidence + v * kLanes,
          (0.5 * d) * log(precision) + log_determinant - leaf.shape * log(rate) + same);
}

inline void solve_for_precisions(const NormalLeaf& leaf) {
    const NormalPrior& prior = leaf.prior;
    const double same = prior.shape * std::log(prior.rate) - std::log(double(prior.n_precisions)) -
                        0.5 * std::log1p(leaf.sums.count / prior.offset_precision) -
                        leaf.sums.count * (0.5 * kLog2Pi + prior.log_scale);
    for (int v = 0; v < leaf.vectors; ++v) {
        Vec precision;
        for (int lane = 0; lane < kLanes; ++lane)
            precision[lane] = prior.precisions[std::min(v * kLanes + lane, prior.n_precisions - 1)];
        solve_equations(leaf, v, precision, same);
    }
}

// Replaces log evidences by the posterior weights of precisions, 0 in padding; the log of their sum.
inline double weigh_precisions(const NormalLeaf& leaf) {
    const int precisions = leaf.prior.n_precisions, lanes = leaf.vectors * kLanes;
    double *weight = leaf.work.log_evidence, top = weight[0], whole = 0.0;
    for (int p = 1; p < precisions; ++p) top = std::fmax(top, weight[p]);
    for (int p = 0; p < lanes; ++p) {
        weight[p] = p < precisions ? std::exp(weight[p] - top) : 0.0;
        whole += weight[p];
    }
    for (int p = 0; p < lanes; ++p) weight[p] = weight[p] / whole < kNegligibleWeight ? 0.0 : weight[p] / whole;
    return top + std::log(whole);
}

// Adds the mean at each precision, times its weight, to mean coefficients and to what is expected, where these are not
// null; in `inverse` the sum of the slopes' covariances over the variance is left.
inline void add_means(const NormalLeaf& leaf, double* expected, double* average) {
    const int d = leaf.d;
    double* mean = leaf.work.mean;
    double log_rate = 0.0;
    for (int v = 0; v < leaf.vectors; ++v) {
        const Vec* solution = leaf.solution(v);
        solve_upper(leaf.factor(v), d, leaf.solution(v));
        for (int lane = 0; lane < kLanes; ++lane) {
            const double share = leaf.work.log_evidence[v * kLanes + lane], rate = leaf.work.rate[v * kLanes + lane];
            if (share == 0.0) continue;
            double along = 0.0;
            for (int i = 0; i < d; ++i) {
                mean[1 + i] = solution[i][lane];
                along += mean[1 + i] * leaf.sums.sums[i];
            }
            mean[0] = (leaf.sums.target - along) / leaf.total;
            if (average)
                for (int i = 0; i <= d; ++i) average[i] += share * mean[i];
            if (!expected) continue;
            const double precision = share * leaf.shape / rate;
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
        if (expected) add_inverse(leaf.factor(v), d, load(leaf.work.log_evidence + v * kLanes), leaf.work.inverse);
    }
    if (expected) expected[2 + d] -= 0.5 * (kLog2Pi + log_rate) + leaf.prior.log_scale;
}

// Adds the covariance of offset and slopes over the variance to what is expected, with the offset put back in.
inline void add_covariance(const NormalLeaf& leaf, double* expected) {
    const int d = leaf.d;
    const double *inverse = leaf.work.inverse, *sums = leaf.sums.sums;
    double* products = expected + 2 + d;
    double of_offset = 1.0 / leaf.total;
    for (int i = 0; i < d; ++i) {
        double with_offset = 0.0;
        for (int j = 0; j < d; ++j)
            with_offset -= inverse[i >= j ? int64_t{i} * d + j : int64_t{j} * d + i] * sums[j] / leaf.total;
        products[1 + i] -= with_offset;
        of_offset -= with_offset * sums[i] / leaf.total;
    }
    products[0] -= 0.5 * of_offset;
    for (int i = 0, at = 1 + d; i < d; ++i) {
        products[at++] -= 0.5 * inverse[int64_t{i} * d + i];
        for (int j = i + 1; j < d; ++j) products[at++] -= inverse[int64_t{j} * d + i];
    }
}

// Sets log evidence (1), expected parameters (k) and mean coefficients (1 + d) of one leaf, where they are not null.
//
// The caller adds what depends on the count alone: the log of the gamma function of the shape less that of the prior's
// is part of the log evidence, and digamma of the shape is part of what is expected.
void normal_leaf(const NormalPrior& prior, const double* statistics, double* log_evidence, double* expected,
                 double* average, Scratch& scratch) {
    const int64_t d = prior.n_slopes, vectors = (prior.n_precisions + kLanes - 1) / kLanes;
    Parts<double> parts(scratch, NormalWork::size(d, vectors));
    const NormalLeaf leaf(prior, statistics, vectors, parts);
    set_equations(leaf);
    solve_for_precisions(leaf);
    const double value = weigh_precisions(leaf);
    if (log_evidence) *log_evidence = value;
    if (!expected && !average) return;
    if (average)
        for (int i = 0; i <= d; ++i) average[i] = 0.0;
    if (expected) {
        for (int i = 0; i < prior.n_statistics(); ++i) expected[i] = 0.0;
        for (int64_t i = 0; i < d * d; ++i) leaf.work.inverse[i] = 0.0;
    }
    add_means(leaf, expected, average);
    if (expected) add_covariance(leaf, expected);
}

}  // namespace
}  // namespace reticulum
