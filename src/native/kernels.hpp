// Sums over a block of rows. kernels.cpp is compiled once for each instruction set; `Kernels` holds one of them.
#pragma once

#include <cstdint>
#include <vector>

namespace reticulum {

// Rows of a block are padded to a multiple of this, the widest vector of floats of any instruction set, and groups of
// rows in a histogram to that of doubles.
constexpr int kPad = 16, kGroupPad = 8;
// A vector that begins at a multiple of so many bytes does not lie in two lines of the cache.
constexpr int kLine = 64;

// The first such place from here on: less than a line away.
template <typename T>
T* aligned(T* from) {
    return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(from) + kLine - 1) / kLine * kLine);
}

// What a pass is made of is told in doubles, or in floats where speed is worth more than digits. Sums are doubles.

// A stack of `c` trees of one shape.
template <typename Real>
struct TreesOf {
    int c, m, width;             // trees, splits, features + 1
    const Real* hyperplanes;     // (c * m, width)
    const int64_t* children;     // (m, 2): a split, or ~leaf; parents come before their children
    int gaps = 0;                // columns of the table in which cells may be missing
    const Real* variance = nullptr;  // (c * m, gaps): how much activations vary over what is missing
    int lead = 0;                // leading columns, of which information is a matrix; all others have one number
    int packed() const { return lead < width ? lead + 1 : width; }  // rows and columns of packed information
    int64_t pairs() const { return int64_t{packed()} * (packed() + 1) / 2; }
    int leaves() const { return m + 1; }
};

// What the leaves say of targets: by code of the target, or by its statistics.
template <typename Real>
struct BeliefsOf {
    int k;                     // values of codes, or statistics
    bool by_code;
    const Real* likelihood;    // by code: exp(E[log p] - offset), (k, c, leaves)
    const Real* offset;        // by code: (k, c)
    const Real* log_likelihood;  // by code: E[log p], (k, c, leaves)
    const Real* parameters;    // by statistics: E[natural parameters], (c * leaves, k)
};

// A block of rows, features by rows. Padding has weight 0.
template <typename Real>
struct BlockOf {
    int n;                    // a multiple of kPad
    const Real* design;       // (width, stride)
    int64_t stride;
    int code;
    const Real* statistics;   // (k, statistics_stride), or null where targets have codes
    int64_t statistics_stride;
    const Real* weight;
    const Real* log_reach;    // null where the trees are whole
    const Real* log_other;
    const Real* missing;      // (gaps, stride): share of variance that gaps leave open; null where there are none
};

using Trees = TreesOf<double>;
using Beliefs = BeliefsOf<double>;
using Block = BlockOf<double>;

// Where a block's sums are added.
struct Sums {
    double* log_normalizer;  // (c)
    double* statistics;      // (c * leaves, k)
    double* gradient;        // (c * m, width), or null
    double* observed;        // (c * m, pairs), or null
    double* complete;        // (c * m, pairs), or null; not without observed
    // What is multiplied by derivatives of variances in the end; null where the table has no gaps.
    double* by_gap = nullptr;                   // (c * m, gaps)
    double* observed_by_gap = nullptr;          // (c * m, lead, gaps)
    double* complete_by_gap = nullptr;
    double* observed_by_gaps = nullptr;         // (c * m, pairs of gaps)
    double* complete_by_gaps = nullptr;
};

// Counts of statistics by side of cuts, direction and bin.
struct Grid {
    int directions, edges, cuts, width;
    const double* direction;  // (directions, width)
    const double* edge;       // (directions, edges), ascending
    const double* cut;        // (cuts, width)
};

struct Kernels {
    const char* name;
    void (*pass)(const Trees&, const Beliefs&, const Block&, const Sums&, std::vector<double>& scratch);
    void (*pass_of_floats)(const TreesOf<float>&, const BeliefsOf<float>&, const BlockOf<float>&, const Sums&,
                           std::vector<double>& scratch);
    // Adds mass * membership * T to statistics (c * leaves, k); T by code or by statistics as in the block.
    void (*membership_sums)(const Trees&, int k, const Block&, const double* mass, double* out,
                            std::vector<double>& scratch);
    // Memberships (leaves, n) of one tree.
    void (*memberships)(const Trees&, const Block&, double* out, std::vector<double>& scratch);
    // For each wanted leaf of one tree: log membership, the larger of that and log responsibility, and the log sum of
    // membership times likelihood over all other leaves; (3, wanted leaves, n).
    void (*leaf_views)(const Trees&, const Beliefs&, const Block&, const int64_t* wanted, int count, double* out,
                       std::vector<double>& scratch);
    // For each split of one tree: adds weight * responsibility below it * log likelihood there; (m). And new statistics.
    void (*likelihoods_below)(const Trees&, const Beliefs&, const Block&, double* out, double* statistics,
                              std::vector<double>& scratch);
    // Adds mass times products of the columns with each other, packed, and mass times the columns by code (k, width).
    void (*moments)(const Block&, int width, const double* mass, double* second, double* cross);
    // Rows along directions (count, width): the first of out (count, stride).
    void (*project)(const double* directions, int count, int width, const Block&, double* out, int64_t stride);
    // The evidence gained by each edge of a direction on each side of cuts, from that direction's histogram
    // (bins, k, size) by code; (size, 2, edges).
    void (*threshold_gains)(const double* histogram, int bins, int k, int size, const double* prior, double* out,
                            std::vector<double>& scratch);
    // Adds mass * T of all rows, and of those left of each cut, by direction and bin: (directions, bins, k, size) by
    // code, (directions, bins, size) by statistics; size is that of (1 + cuts) groups, padded.
    void (*histogram)(const Grid&, const Block&, int k, const double* mass, double* out, std::vector<double>& scratch);
};

extern const Kernels baseline_kernels;
#if defined(RETICULUM_X86_LEVELS)
extern const Kernels v3_kernels;
extern const Kernels v4_kernels;
#endif

}  // namespace reticulum
