// The interface between the two halves of the compiled core: blocks of rows, and the sums that kernels make of them.
//
// kernels.cpp is compiled once for each instruction set and fills one `Kernels` each time; all else is compiled once.
#pragma once

#include <cstdint>

#include "scratch.hpp"

namespace reticulum {

// Rows of a block are padded to a multiple of kPad, the widest vector of floats of any instruction set, and groups of
// rows in a histogram to a multiple of kGroupPad, the widest vector of doubles.
constexpr int kPad = 16, kGroupPad = 8;

// So many groups of rows, padded.
inline int padded_groups(int groups) { return (groups + kGroupPad - 1) / kGroupPad * kGroupPad; }

// A pass reads doubles, or floats where speed is worth more than digits: Real is either of them. What it adds to is
// doubles.

// A stack of `c` trees of one shape.
template <typename Real>
struct TreesOf {
    int c, m, width;                 // trees, splits, columns of the design (features + 1)
    const Real* hyperplanes;         // (c * m, width)
    const int64_t* children;         // (m, 2): a split, or ~leaf; parents come before their children
    int gaps = 0;                    // columns of the table in which cells may be missing
    const Real* variance = nullptr;  // (c * m, gaps): variance of each activation over the missing cell
    int lead = 0;  // leading columns, whose information is a matrix; all columns behind them share one number
    int packed() const { return lead < width ? lead + 1 : width; }            // rows of packed information
    int64_t pairs() const { return int64_t{packed()} * (packed() + 1) / 2; }  // numbers in packed information
    int leaves() const { return m + 1; }
};

// Expected likelihoods of the targets in each leaf: a table by code of the target, or a linear function of its
// statistics.
template <typename Real>
struct LikelihoodsOf {
    int k;  // number of codes, or of statistics
    bool by_code;
    const Real* likelihood;      // by code: exp(E[log p] - offset), (k, c, leaves)
    const Real* offset;          // by code: the largest E[log p], (k, c)
    const Real* log_likelihood;  // by code: E[log p], (k, c, leaves)
    const Real* parameters;      // by statistics: E[natural parameters], (c * leaves, k)
};

// A block of rows, columns by rows. Padding has weight 0.
template <typename Real>
struct BlockOf {
    int n;               // rows, a multiple of kPad
    const Real* design;  // (width, stride)
    int64_t stride;
    int code;                // of all targets in the block, if they have codes
    const Real* statistics;  // (k, statistics_stride), or null where targets have codes
    int64_t statistics_stride;
    // Where statistics are the products of all pairs of factors, these are given instead, (factors, statistics_stride):
    // the target, 1, and the columns that leaves are linear in; and the variance of each target. Otherwise 0 and null.
    int factors;
    const Real* variance;
    const Real* weight;
    const Real* log_reach;  // log membership of each row in the leaf of a view; null where trees are whole
    const Real* log_other;  // log joint of each row with all other leaves; null where trees are whole
    const Real* missing;    // (gaps, stride): share of variance that gaps leave open; null in a block without gaps
};

using Trees = TreesOf<double>;
using Likelihoods = LikelihoodsOf<double>;
using Block = BlockOf<double>;

// Where a pass adds its sums.
struct Sums {
    double* log_normalizer;  // (c)
    double* statistics;      // (c * leaves, k)
    double* gradient;        // (c * m, width), or null
    double* observed;        // observed-data information, (c * m, pairs), or null
    double* complete;        // complete-data information, (c * m, pairs), or null; not without observed
    // Sums by gap, which Gaps::finish multiplies by derivatives of variances at the end of the pass; null where the
    // table has no gaps.
    double* by_gap = nullptr;           // (c * m, gaps)
    double* observed_by_gap = nullptr;  // (c * m, lead, gaps)
    double* complete_by_gap = nullptr;
    double* observed_by_gaps = nullptr;  // (c * m, pairs of gaps)
    double* complete_by_gaps = nullptr;
};

// The prior of a Bayesian linear regression in a leaf, as in families/normal.py.
struct NormalPrior {
    int n_slopes, n_precisions;
    double offset_precision, shape, rate, log_scale;
    const double* precisions;  // (n_precisions) of the slopes

    int n_statistics() const { return (n_slopes + 2) * (n_slopes + 3) / 2; }
};

// What a histogram counts by: the bin of each row along each direction, and its side of each cut.
struct Grid {
    int directions, edges, cuts, width;
    const double* direction;  // (directions, width)
    const double* edge;       // (directions, edges), ascending
    const double* cut;        // (cuts, width)
};

// The functions of one instruction set. T is the row's statistic: one by code, or several by statistics.
struct Kernels {
    const char* name;

    // Adds the sums of a pass of doubles, or of floats.
    void (*pass)(const Trees&, const Likelihoods&, const Block&, const Sums&, Scratch&);
    void (*pass_of_floats)(const TreesOf<float>&, const LikelihoodsOf<float>&, const BlockOf<float>&, const Sums&,
                           Scratch&);

    // Adds mass * membership * T to out (c * leaves, k).
    void (*membership_sums)(const Trees&, int k, const Block&, const double* mass, double* out, Scratch&);

    // Sets out (leaves, n) to the memberships of one tree.
    void (*memberships)(const Trees&, const Block&, double* out, Scratch&);

    // Sets out (3, wanted leaves, n) for leaves of one tree: log membership, the larger of that and log responsibility,
    // and the log sum of membership times likelihood over all other leaves.
    void (*leaf_views)(const Trees&, const Likelihoods&, const Block&, const int64_t* wanted, int count, double* out,
                       Scratch&);

    // Adds weight * responsibility below a split * log likelihood there to out (m) of one tree, and responsibility * T
    // to statistics (leaves, k).
    void (*likelihoods_below)(const Trees&, const Likelihoods&, const Block&, double* out, double* statistics,
                              Scratch&);

    // Adds mass times products of the columns with each other to second (pairs), and mass times the columns by code to
    // cross (k, width).
    void (*moments)(const Block&, int width, const double* mass, double* second, double* cross);

    // The same for numbers. Without coefficients, cross (3, width) has the products of the columns with the squared
    // target, the target and 1. With coefficients (factors - 1) of a leaf, it has those of the residual with products
    // of two columns (pairs), and of the squared residual with one (width). Size is the sum of mass times the absolute
    // value of these three quantities, or of the residual times each column (width) and of the squared residual.
    void (*moments_of_numbers)(const Block&, int width, const double* mass, const double* coefficients, double* second,
                               double* cross, double* size, Scratch&);

    // Sets the first n of out (count, stride) to the rows' places along directions (count, width).
    void (*project)(const double* directions, int count, int width, const Block&, double* out, int64_t stride);

    // Sets out (size, 2, edges) to the evidence gained by each edge of a direction on each side of cuts, from that
    // direction's histogram (bins, k, size) by code.
    void (*threshold_gains)(const double* histogram, int bins, int k, int size, const double* prior, double* out,
                            Scratch&);

    // The same for numbers, whose statistics are 3, or 6 with a slope along the direction (one slope precision).
    void (*threshold_gains_of_numbers)(const double* histogram, int bins, int size, const NormalPrior&, double* out,
                                       Scratch&);

    // Adds mass * T of all rows, and of those left of each cut, by direction and bin: to out (directions, bins, k,
    // size); size is that of (1 + cuts) groups, padded. T has k numbers. With coefficients (factors - 1) of a leaf,
    // these are the products of pairs of the residual, 1 and the place along the direction.
    void (*histogram)(const Grid&, const Block&, int k, const double* mass, const double* coefficients, double* out,
                      Scratch&);

    // Replaces a symmetric matrix (n, n) by its Cholesky factor; false if it is not positive definite. Of both only the
    // upper triangle is read.
    bool (*cholesky)(double* matrix, int n);

    // Sets an inverse (n, n) from the factor of a matrix; work (n, n) is overwritten.
    void (*inverse_from_cholesky)(const double* factor, int n, double* work, double* inverse);

    // Sets log evidence (1), expected parameters (k) and mean coefficients (1 + slopes) of a leaf with statistics (k),
    // where they are not null, but for what depends on its count alone: the log evidence lacks the log of the gamma
    // function of the shape less that of the prior's shape, and the third of the expected parameters from the offset on
    // half of digamma of the shape.
    void (*normal_leaf)(const NormalPrior&, const double* statistics, double* log_evidence, double* expected,
                        double* average, Scratch&);
};

extern const Kernels baseline_kernels;
#if defined(RETICULUM_X86_LEVELS)
extern const Kernels v3_kernels;
extern const Kernels v4_kernels;
#endif

}  // namespace reticulum
