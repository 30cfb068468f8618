// One block of rows after the other; compiled once for each instruction set, as RETICULUM_KERNELS.

#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "vectors.hpp"

namespace reticulum {
namespace {

template <typename Real>
constexpr bool kIsDouble = std::is_same_v<Real, double>;
// Gates are told from 0 and 1 up to this activation.
template <typename Real>
constexpr Real kLargestExponent = kIsDouble<Real> ? Real(500) : Real(80);
// Products of gates and likelihoods may stand for their logs while their sum lies between these.
template <typename Real>
constexpr Real kSmallestTotal = kIsDouble<Real> ? Real(1e-200) : Real(1e-30);
template <typename Real>
constexpr Real kLargestExtra = kIsDouble<Real> ? Real(400) : Real(60);
// The logistic function of a normal number, averaged, is that of its mean over √(1 + this times its variance).
constexpr double kProbitSlope = 0.39269908169872414;
// A responsibility that is smaller than this is 0.
constexpr double kNegligible = 1e-13;

#if defined(__AVX512F__)
constexpr int kTileRows = 4, kTileVectors = 4, kTileDots = 4, kTileCurvatures = 6, kTileColumns = 4, kTileGates = 4;
#else
constexpr int kTileRows = 4, kTileVectors = 2, kTileDots = 3, kTileCurvatures = 3, kTileColumns = 4, kTileGates = 4;
#endif

// Calls work with a size as a constant; it is at most `Most`.
template <int Most, typename Work>
inline void with_size(int size, Work work) {
    if constexpr (Most > 1)
        if (size < Most) return with_size<Most - 1>(size, work);
    work(std::integral_constant<int, Most>());
}

// Calls work with the size of each tile and with where it begins: tiles of at most `Most`, and all about as large, as
// small ones take almost as long.
template <int Most, typename Work>
inline void in_tiles(int count, Work work) {
    for (int at = 0; at < count;) {
        const int tiles = (count - at + Most - 1) / Most, size = (count - at + tiles - 1) / tiles;
        with_size<Most>(size, [&](auto constant) { work(constant, at); });
        at += size;
    }
}

// Sums that stay in registers: compilers leave in memory what is set to zero as a whole.
template <typename Real, int R, int J>
struct Tile {
    VecOf<Real> sums[R][J];
    Tile() {
        for (auto& row : sums)
            for (auto& own : row) own = VecOf<Real>{};
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
        const Real* own = matrix + int64_t{r} * width;
        Real* to = out + r * out_stride;
        int b = 0;
        for (; b + kTileVectors * kLanes <= n; b += kTileVectors * kLanes)
            product_tile<R, kTileVectors>(own, width, columns + b, stride, to + b, out_stride);
        for (; b < n; b += kLanes) product_tile<R, 1>(own, width, columns + b, stride, to + b, out_stride);
    });
}

// The same with as many in out.
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

// The same with products of a column `first` and `J` others in the place of right.
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

// out (rows, pairs) += sum over b of left (rows, n) times the upper triangle of x x', in each row of which so many places
// are skipped.
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

void moments(const Block& block, int width, const double* mass, double* second, double* cross) {
    const int64_t pairs = int64_t{width} * (width + 1) / 2;
    add_curvatures(mass, 1, block.n, block.design, block.stride, width, 0, second, pairs);
    add_dots(mass, 1, block.n, block.design, block.stride, width, cross + int64_t{block.code} * width);
}

void project(const double* directions, int count, int width, const Block& block, double* out, int64_t stride) {
    product(directions, count, width, block.design, block.stride, out, stride, block.n);
}

// Activations (count, n) of splits from the `first` of the stack on. Where cells are missing they are softened, by the
// factors that are left in `soft` (count, n).
template <typename Real>
void activate(const TreesOf<Real>& trees, int64_t first, int count, const BlockOf<Real>& block, Real* out, Real* soft) {
    const int n = block.n;
    product(trees.hyperplanes + first * trees.width, count, trees.width, block.design, block.stride, out, n);
    if (!block.missing) return;
    product(trees.variance + first * trees.gaps, count, trees.gaps, block.missing, block.stride, soft, n);
    for (int64_t at = 0; at < int64_t{count} * n; ++at) {
        soft[at] = Real(1) / std::sqrt(Real(1) + Real(kProbitSlope) * soft[at]);
        out[at] *= soft[at];
    }
}

// Stands for the log of 0, and does not spread as an infinity would.
template <typename Real>
constexpr Real kLogOfNothing = kIsDouble<Real> ? Real(-1e308) : Real(-1e38);

inline Vec log_of_sum(Vec a, Vec b) {
    const Vec top = larger(a, b);
    return top + log(1.0 + exp(smaller(a, b) - top));
}

template <typename Real>
bool any_above(const VecOf<Real>& values, Real limit) {
    for (int lane = 0; lane < kLanesOf<Real>; ++lane)
        if (values[lane] > limit) return true;
    return false;
}

// Vectors that do not begin where a line of the cache does lie in two of them.
template <typename Real = double>
Real* grown(std::vector<double>& scratch, int64_t size) {
    const int64_t doubles = (size * sizeof(Real) + kLine) / sizeof(double) + 1;
    if (static_cast<int64_t>(scratch.size()) < doubles) scratch.resize(doubles);
    return reinterpret_cast<Real*>(aligned(scratch.data()));
}

// Gates to the left of V vectors of activations, and what goes to either side of what comes from above.
template <int V, typename Real>
inline void gate_tile(const Real* activation, const Real* above, Real* gate, Real* left, Real* right,
                      VecOf<Real>& most_left, VecOf<Real>& most_right) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    const Vec least = all(-kLargestExponent<Real>), most = all(kLargestExponent<Real>);
    // Both gates from one exponential, each to full relative precision.
    Vec odds[V];
    for (int v = 0; v < V; ++v) odds[v] = -smaller(larger(load(activation + v * kLanes), least), most);
    exp_within(odds);
    for (int v = 0; v < V; ++v) {
        const Vec own = Real(1) / (Real(1) + odds[v]), reached = load(above + v * kLanes);
        const Vec to_left = reached * own, to_right = reached * (own * odds[v]);
        store(gate + v * kLanes, own);
        store(left + v * kLanes, to_left);
        store(right + v * kLanes, to_right);
        most_left = larger(most_left, to_left);
        most_right = larger(most_right, to_right);
    }
}

// Gates to the left (m, n), and in `member` (leaves, n) the products of gates on each leaf's path. `reach` (m, n).
//
// Splits that no row of the block reaches with a membership above `negligible` are not `alive`, and all below them
// have none: rows with negligible responsibility are skipped. Activations that are not yet made are made on the way,
// for a few splits at once, with their `soft`ening.
template <typename Real>
void descend(const TreesOf<Real>& trees, int tree, const BlockOf<Real>& block, Real negligible, bool made,
             Real* activation, Real* soft, Real* gate, Real* reach, Real* member, std::vector<char>& alive) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    const int n = block.n, m = trees.m;
    alive.assign(m, 1);
    std::fill_n(m == 0 ? member : reach, n, Real(1));
    for (int split = 0; split < m; ++split) {
        if (!made && split % kTileRows == 0) {
            const int count = std::min(kTileRows, m - split);
            bool any = false;
            for (int j = split; j < split + count; ++j) any |= alive[j] != 0;
            if (any)
                activate(trees, int64_t{tree} * m + split, count, block, activation + int64_t{split} * n,
                         soft + int64_t{split} * n);
        }
        const int64_t* pair = trees.children + 2 * split;
        Real* left = pair[0] >= 0 ? reach + pair[0] * n : member + ~pair[0] * n;
        Real* right = pair[1] >= 0 ? reach + pair[1] * n : member + ~pair[1] * n;
        if (!alive[split]) {
            for (int side = 0; side < 2; ++side) {
                if (pair[side] >= 0) alive[pair[side]] = 0;
                else std::fill_n(side ? right : left, n, Real(0));
            }
            continue;
        }
        const Real* above = reach + int64_t{split} * n;
        const Real* a = activation + int64_t{split} * n;
        Real* g = gate + int64_t{split} * n;
        Vec most_left = {}, most_right = {};
        int b = 0;
        for (; b + kTileGates * kLanes <= n; b += kTileGates * kLanes)
            gate_tile<kTileGates>(a + b, above + b, g + b, left + b, right + b, most_left, most_right);
        for (; b < n; b += kLanes) gate_tile<1>(a + b, above + b, g + b, left + b, right + b, most_left, most_right);
        if (pair[0] >= 0) alive[pair[0]] = any_above<Real>(most_left, negligible);
        if (pair[1] >= 0) alive[pair[1]] = any_above<Real>(most_right, negligible);
    }
}

// Log memberships (leaves, n), where products of gates might vanish. `reach` (m, n).
template <typename Real>
void descend_logs(const TreesOf<Real>& trees, const Real* activation, int n, Real* reach, Real* member) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    std::fill_n(trees.m == 0 ? member : reach, n, Real(0));
    for (int split = 0; split < trees.m; ++split) {
        const int64_t* pair = trees.children + 2 * split;
        Real* left = pair[0] >= 0 ? reach + pair[0] * n : member + ~pair[0] * n;
        Real* right = pair[1] >= 0 ? reach + pair[1] * n : member + ~pair[1] * n;
        const Real* above = reach + int64_t{split} * n;
        for (int b = 0; b < n; b += kLanes) {
            const Vec a = load(activation + int64_t{split} * n + b);
            const Vec down = smaller(a, Vec{}) - log(Real(1) + exp(smaller(a, -a)));
            const Vec reached = load(above + b) + down;
            store(left + b, reached);
            store(right + b, reached - a);
        }
    }
}

// Joints (leaves, n) of membership and likelihood, up to exp(shift) (n), from log memberships and log likelihoods.
template <typename Real>
void joints_from_logs(int leaves, const BlockOf<Real>& block, const Real* say, const Real* code_say, Real* member,
                      Real* total, Real* shift) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    const int n = block.n;
    for (int b = 0; b < n; b += kLanes) {
        const Vec reach = block.log_reach ? load(block.log_reach + b) : Vec{};
        Vec top = block.log_other ? load(block.log_other + b) : all(kLogOfNothing<Real>);
        for (int leaf = 0; leaf < leaves; ++leaf) {
            const Vec likelihood = say ? load(say + int64_t{leaf} * n + b) : all(code_say[leaf]);
            const Vec joint = load(member + int64_t{leaf} * n + b) + reach + likelihood;
            store(member + int64_t{leaf} * n + b, joint);
            top = larger(top, joint);
        }
        Vec all_of_it = block.log_other ? exp(load(block.log_other + b) - top) : Vec{};
        for (int leaf = 0; leaf < leaves; ++leaf) {
            // What is cut off by exp would be too small to count.
            const Vec joint = exp(load(member + int64_t{leaf} * n + b) - top);
            store(member + int64_t{leaf} * n + b, joint);
            all_of_it += joint;
        }
        store(total + b, all_of_it);
        store(shift + b, top);
    }
}

template <typename Real>
void pass(const TreesOf<Real>& trees, const BeliefsOf<Real>& beliefs, const BlockOf<Real>& block, const Sums& sums,
          std::vector<double>& scratch) {
    using Vec = VecOf<Real>;
    constexpr int kLanes = kLanesOf<Real>;
    const int c = trees.c, m = trees.m, leaves = trees.leaves(), width = trees.width, n = block.n, k = beliefs.k;
    const bool information = sums.observed != nullptr;
    const int64_t kinds = information ? (sums.complete ? 2 : 1) : 0;
    const int64_t splits = int64_t{c} * m;
    const int64_t says = beliefs.by_code ? 0 : int64_t{c} * leaves;
    const int64_t softs = block.missing ? splits : 0;
    Real* at = grown<Real>(scratch, n * (splits * (1 + kinds) + 2 * int64_t{m} + leaves + 2 + says +
                                     softs * (3 + 2 * kinds)));
    Real* slope = std::exchange(at, at + splits * n);  // activations first
    Real* curvature = at;                              // observed, then complete
    at += kinds * splits * n;
    Real* gate = std::exchange(at, at + int64_t{m} * n);
    Real* reach = std::exchange(at, at + int64_t{m} * n);
    Real* member = std::exchange(at, at + int64_t{leaves} * n);
    Real* total = std::exchange(at, at + n);
    Real* shift = std::exchange(at, at + n);
    Real* say = std::exchange(at, at + says * n);
    Real* soft = std::exchange(at, at + softs * n);
    Real* softened = std::exchange(at, at + softs * n);  // activations, once slopes have taken their place
    Real* pulled = std::exchange(at, at + softs * n);
    Real* step = std::exchange(at, at + kinds * softs * n);  // observed, then complete
    Real* twice = at;
    std::vector<char> alive, any_alive(static_cast<size_t>(splits), 0);
    // Small trees are all reached: their activations are made for the whole stack.
    const bool is_small = m < 2 * kTileRows;
    if (is_small) activate(trees, 0, static_cast<int>(splits), block, slope, soft);

    if (!beliefs.by_code)
        product(beliefs.parameters, c * leaves, k, block.statistics, block.statistics_stride, say, n);

    for (int tree = 0; tree < c; ++tree) {
        Real* a = slope + int64_t{tree} * m * n;
        Real* own_soft = soft + (softs ? int64_t{tree} * m * n : 0);
        Real* own_say = beliefs.by_code ? nullptr : say + int64_t{tree} * leaves * n;
        const Real* table = beliefs.by_code ? beliefs.likelihood + (int64_t{block.code} * c + tree) * leaves : nullptr;
        const Real offset = beliefs.by_code ? beliefs.offset[int64_t{block.code} * c + tree] : Real(0);
        // Likelihoods are at most 1 and at least the smallest one, so that a responsibility is at most so many times the
        // membership. Where likelihoods differ from row to row nothing is known of them.
        Real negligible = 0;
        if (beliefs.by_code) negligible = Real(kNegligible) * *std::min_element(table, table + leaves);
        descend(trees, tree, block, negligible, is_small, a, own_soft, gate, reach, member, alive);

        // Sums of the joints of membership and likelihood, as guarded products.
        if (beliefs.by_code) product(table, 1, leaves, member, n, total, n);
        Vec least = all(Real(1)), most = all(Real(0));
        for (int b = 0; b < n; b += kLanes) {
            Vec top = all(offset);
            Vec joint_sum = beliefs.by_code ? load(total + b) : Vec{};
            if (!beliefs.by_code) {
                top = load(own_say + b);
                for (int leaf = 1; leaf < leaves; ++leaf) top = larger(top, load(own_say + int64_t{leaf} * n + b));
                for (int leaf = 0; leaf < leaves; ++leaf) {
                    const Vec joint =
                        load(member + int64_t{leaf} * n + b) * exp(load(own_say + int64_t{leaf} * n + b) - top);
                    store(member + int64_t{leaf} * n + b, joint);
                    joint_sum += joint;
                }
            }
            least = smaller(least, joint_sum);
            if (block.log_other) {
                const Vec reach_log = load(block.log_reach + b);
                const Vec extra = load(block.log_other + b) - reach_log - top;
                most = larger(most, extra);
                joint_sum += exp(extra);
                top += reach_log;
            }
            store(total + b, joint_sum);
            store(shift + b, top);
        }
        bool safe = true;
        for (int lane = 0; lane < kLanes; ++lane) safe &= least[lane] > kSmallestTotal<Real> && most[lane] < kLargestExtra<Real>;
        if (!safe) {
            // Nothing is negligible now: all activations are needed, and all gates.
            descend(trees, tree, block, Real(-1), is_small, a, own_soft, gate, reach, member, alive);
            descend_logs(trees, a, n, reach, member);
            const Real* code_say =
                beliefs.by_code ? beliefs.log_likelihood + (int64_t{block.code} * c + tree) * leaves : nullptr;
            joints_from_logs(leaves, block, own_say, code_say, member, total, shift);
        }

        WideSum log_sum;
        for (int b = 0; b < n; b += kLanes) {
            const Vec weight = load(block.weight + b), all_of_it = load(total + b);
            log_sum.add(weight * (log(all_of_it) + load(shift + b)));
            store(total + b, weight / all_of_it);
        }
        sums.log_normalizer[tree] += sum(log_sum.total);

        // Where targets have codes, joints become responsibilities on the way up, by a factor for each row and leaf.
        const bool later = beliefs.by_code && m > 0;
        const Real* factor = later && safe ? table : nullptr;
        if (!later) {
            for (int leaf = 0; leaf < leaves; ++leaf) {
                Real* own = member + int64_t{leaf} * n;
                Vec count = {};
                for (int b = 0; b < n; b += kLanes) {
                    const Vec responsibility = load(own + b) * load(total + b);
                    store(own + b, responsibility);
                    count += responsibility;
                }
                if (beliefs.by_code) sums.statistics[int64_t{tree} * k + block.code] += sum(count);
            }
            if (!beliefs.by_code)
                add_dots(member, leaves, n, block.statistics, block.statistics_stride, k,
                         sums.statistics + int64_t{tree} * leaves * k);
            std::fill_n(total, n, Real(1));
        }

        if (softs) std::copy_n(a, int64_t{m} * n, softened + int64_t{tree} * m * n);
        // Up the tree: what lies below each split, and to the left of it.
        for (int split = m - 1; split >= 0; --split) {
            const int64_t* pair = trees.children + 2 * split;
            const Real* first = pair[0] >= 0 ? reach + pair[0] * n : member + ~pair[0] * n;
            const Real* second = pair[1] >= 0 ? reach + pair[1] * n : member + ~pair[1] * n;
            const Real first_factor = pair[0] < 0 && factor ? factor[~pair[0]] : Real(1);
            const Real second_factor = pair[1] < 0 && factor ? factor[~pair[1]] : Real(1);
            Real* below = reach + int64_t{split} * n;
            const Real* g = gate + int64_t{split} * n;
            Real* own_slope = a + int64_t{split} * n;
            if (!alive[split]) {
                std::fill_n(below, n, Real(0));
                std::fill_n(own_slope, n, Real(0));
                for (int64_t kind = 0; kind < kinds; ++kind)
                    std::fill_n(curvature + (kind * splits + int64_t{tree} * m + split) * n, n, Real(0));
                continue;
            }
            any_alive[int64_t{tree} * m + split] = 1;
            Real* observed = curvature + (int64_t{tree} * m + split) * n;
            Real* complete = observed + splits * n;
            Vec left_count = {}, right_count = {};
            for (int b = 0; b < n; b += kLanes) {
                const Vec scale = load(total + b), own = load(g + b);
                const Vec to_left = load(first + b) * first_factor, to_right = load(second + b) * second_factor;
                const Vec left = to_left * scale, right = to_right * scale, reached = left + right;
                const Vec steep = left - reached * own;
                store(below + b, to_left + to_right);
                store(own_slope + b, steep);
                left_count += left;
                right_count += right;
                if (!information) continue;
                const Vec weight = load(block.weight + b);
                const Vec known = reached * own * (Real(1) - own);
                // Padding has no weight, and nothing to divide.
                const Vec inverse = weight > Real(0) ? Real(1) / weight : Vec{};
                if (kinds > 1) store(complete + b, known);
                store(observed + b, known - left * (Real(1) - own - steep * inverse) +
                                        own * steep * (Real(1) - reached * inverse));
            }
            if (!later) continue;
            double* counts = sums.statistics + int64_t{tree} * leaves * k + block.code;
            if (pair[0] < 0) counts[~pair[0] * k] += sum(left_count);
            if (pair[1] < 0) counts[~pair[1] * k] += sum(right_count);
        }
    }
    // Splits that are alive, a few in a row at a time.
    const int64_t pairs = trees.pairs();
    const int skip = trees.packed() - trees.lead;
    for (int64_t first = 0; first < splits;) {
        if (!any_alive[first]) {
            ++first;
            continue;
        }
        int64_t last = first + 1;
        while (last < splits && any_alive[last]) ++last;
        const int count = static_cast<int>(last - first);
        if (softs) {
            // As `_GapSums` in rows.py.
            constexpr Real probit = kProbitSlope;
            for (int64_t b = first * n; b < last * n; b += kLanes) {
                const Vec s = load(soft + b), a = load(softened + b), steep = load(slope + b);
                const Vec pull = probit * s * s * a;
                store(pulled + b, steep * pull);
                store(slope + b, steep * s);
                for (int64_t kind = 0; kind < kinds; ++kind) {
                    const int64_t own = kind * splits * n + b;
                    const Vec bent = load(curvature + own), changing = kind ? Vec{} : steep;
                    store(step + own, probit * s * s * s * (changing - bent * a));
                    store(twice + own, probit * s * s * pull * (bent * a - Real(3) * changing));
                    store(curvature + own, bent * s * s);
                }
            }
            const int gaps = trees.gaps;
            const int64_t gap_pairs = int64_t{gaps} * (gaps + 1) / 2, mixed = int64_t{trees.lead} * gaps;
            add_dots(pulled + first * n, count, n, block.missing, block.stride, gaps, sums.by_gap + first * gaps);
            for (int64_t kind = 0; kind < kinds; ++kind) {
                const int64_t own = (kind * splits + first) * n;
                add_mixed(step + own, count, n, block.design, trees.lead, block.missing, gaps, block.stride,
                          (kind ? sums.complete_by_gap : sums.observed_by_gap) + first * mixed);
                add_curvatures(twice + own, count, n, block.missing, block.stride, gaps, 0,
                               (kind ? sums.complete_by_gaps : sums.observed_by_gaps) + first * gap_pairs, gap_pairs);
            }
        }
        if (sums.gradient)
            add_dots(slope + first * n, count, n, block.design, block.stride, width, sums.gradient + first * width);
        for (int64_t kind = 0; kind < kinds; ++kind) {
            const Real* own = curvature + (kind * splits + first) * n;
            double* out = (kind ? sums.complete : sums.observed) + first * pairs;
            add_curvatures(own, count, n, block.design, block.stride, trees.lead, skip, out, pairs);
            for (int split = 0; skip && split < count; ++split) {
                Vec all_of_it = {};
                for (int b = 0; b < n; b += kLanes) all_of_it += load(own + int64_t{split} * n + b);
                out[(split + 1) * pairs - 1] += sum(all_of_it);
            }
        }
        first = last;
    }
}

void membership_sums(const Trees& trees, int k, const Block& block, const double* mass, double* out,
                     std::vector<double>& scratch) {
    const int c = trees.c, m = trees.m, leaves = trees.leaves(), n = block.n;
    double* activation = grown(scratch, int64_t{n} * (4 * m + leaves));
    double* gate = activation + int64_t{m} * n;
    double* reach = gate + int64_t{m} * n;
    double* soft = reach + int64_t{m} * n;
    double* member = soft + int64_t{m} * n;
    std::vector<char> alive;
    for (int tree = 0; tree < c; ++tree) {
        descend(trees, tree, block, kNegligible, false, activation, soft, gate, reach, member, alive);
        for (int leaf = 0; leaf < leaves; ++leaf) {
            double* own = member + int64_t{leaf} * n;
            Vec count = {};
            for (int b = 0; b < n; b += kLanes) {
                const Vec share = load(own + b) * load(mass + b);
                store(own + b, share);
                count += share;
            }
            if (!block.statistics) out[(int64_t{tree} * leaves + leaf) * k + block.code] += sum(count);
        }
        if (block.statistics)
            add_dots(member, leaves, n, block.statistics, block.statistics_stride, k, out + int64_t{tree} * leaves * k);
    }
}

void memberships(const Trees& trees, const Block& block, double* out, std::vector<double>& scratch) {
    const int m = trees.m, n = block.n;
    double* activation = grown(scratch, 4 * int64_t{n} * m);
    double* gate = activation + int64_t{m} * n;
    double* reach = gate + int64_t{m} * n;
    std::vector<char> alive;
    descend(trees, 0, block, 0.0, false, activation, reach + int64_t{m} * n, gate, reach, out, alive);
}

// Log memberships (leaves, n), and in `say` (leaves, n) log likelihoods.
void log_parts(const Trees& trees, const Beliefs& beliefs, const Block& block, double* activation, double* reach,
               double* member, double* say) {
    const int leaves = trees.leaves(), n = block.n;
    // Reaches are made after softening has been used.
    activate(trees, 0, trees.m, block, activation, reach);
    descend_logs(trees, activation, n, reach, member);
    if (beliefs.by_code) {
        for (int leaf = 0; leaf < leaves; ++leaf)
            std::fill_n(say + int64_t{leaf} * n, n, beliefs.log_likelihood[int64_t{block.code} * leaves + leaf]);
    } else {
        product(beliefs.parameters, leaves, beliefs.k, block.statistics, block.statistics_stride, say, n);
    }
}

// Log of the sum of a vector and of all joints (leaves, n) but one, wherever they lie.
Vec log_of_others(int leaves, int but, const double* joint, int n, Vec outside) {
    Vec top = outside;
    for (int leaf = 0; leaf < leaves; ++leaf)
        if (leaf != but) top = larger(top, load(joint + int64_t{leaf} * n));
    Vec rest = exp(outside - top);
    for (int leaf = 0; leaf < leaves; ++leaf)
        if (leaf != but) rest += exp(load(joint + int64_t{leaf} * n) - top);
    return top + log(rest);
}

void leaf_views(const Trees& trees, const Beliefs& beliefs, const Block& block, const int64_t* wanted, int count,
                double* out, std::vector<double>& scratch) {
    const int m = trees.m, leaves = trees.leaves(), n = block.n;
    double* at = grown(scratch, int64_t{n} * 2 * (m + leaves) + int64_t{leaves} * kLanes);
    double* activation = std::exchange(at, at + int64_t{m} * n);
    double* reach = std::exchange(at, at + int64_t{m} * n);
    double* member = std::exchange(at, at + int64_t{leaves} * n);
    double* joint = std::exchange(at, at + int64_t{leaves} * n);
    double* parts = at;  // (leaves, lanes)
    log_parts(trees, beliefs, block, activation, reach, member, joint);
    for (int b = 0; b < n; b += kLanes) {
        const Vec log_reach = block.log_reach ? load(block.log_reach + b) : Vec{};
        const Vec outside = block.log_other ? load(block.log_other + b) : all(kLogOfNothing<double>);
        Vec top = outside;
        for (int leaf = 0; leaf < leaves; ++leaf) {
            double* own = joint + int64_t{leaf} * n + b;
            store(own, load(own) + load(member + int64_t{leaf} * n + b) + log_reach);
            top = larger(top, load(own));
        }
        for (int leaf = 0; leaf < leaves; ++leaf)
            store(parts + int64_t{leaf} * kLanes, exp(load(joint + int64_t{leaf} * n + b) - top));
        const Vec outer_part = exp(outside - top);
        for (int v = 0; v < count; ++v) {
            const int own = static_cast<int>(wanted[v]);
            // All but one are added up: to take one from the whole would cost digits.
            Vec rest = outer_part;
            for (int leaf = 0; leaf < leaves; ++leaf)
                if (leaf != own) rest += load(parts + int64_t{leaf} * kLanes);
            const bool safe = !any_above<double>(-rest, -kSmallestTotal<double>);
            const Vec other = safe ? top + log(rest) : log_of_others(leaves, own, joint + b, n, outside);
            const Vec share = load(member + int64_t{own} * n + b) + log_reach, both = load(joint + int64_t{own} * n + b);
            double* to = out + int64_t{v} * n + b;
            store(to, share);
            store(to + int64_t{count} * n, larger(share, both - log_of_sum(both, other)));
            store(to + int64_t{2 * count} * n, other);
        }
    }
}

void likelihoods_below(const Trees& trees, const Beliefs& beliefs, const Block& block, double* out, double* statistics,
                       std::vector<double>& scratch) {
    const int m = trees.m, leaves = trees.leaves(), n = block.n, k = beliefs.k;
    double* activation = grown(scratch, int64_t{n} * (3 * m + 2 * leaves + 1));
    double* reach = activation + int64_t{m} * n;
    double* below = reach + int64_t{m} * n;  // log of the joint below each split
    double* member = below + int64_t{m} * n;
    double* say = member + int64_t{leaves} * n;
    double* total = say + int64_t{leaves} * n;
    log_parts(trees, beliefs, block, activation, reach, member, say);
    for (int64_t at = 0; at < int64_t{leaves} * n; at += kLanes) store(say + at, load(say + at) + load(member + at));
    for (int split = m - 1; split >= 0; --split) {
        const int64_t* pair = trees.children + 2 * split;
        const double* first = pair[0] >= 0 ? below + pair[0] * n : say + ~pair[0] * n;
        const double* second = pair[1] >= 0 ? below + pair[1] * n : say + ~pair[1] * n;
        for (int b = 0; b < n; b += kLanes) {
            store(below + int64_t{split} * n + b, log_of_sum(load(first + b), load(second + b)));
        }
    }
    const double* whole = m ? below : say;
    for (int b = 0; b < n; b += kLanes) {
        Vec log_total = load(whole + b);
        if (block.log_other) {
            const Vec reached = load(block.log_reach + b);
            log_total = log_of_sum(log_total + reached, load(block.log_other + b)) - reached;
        }
        store(total + b, log_total);
    }
    for (int split = 0; split < m; ++split) {
        Vec sum_below = {};
        for (int b = 0; b < n; b += kLanes) {
            const int64_t at = int64_t{split} * n + b;
            const Vec log_joint = load(below + at);
            const Vec share = load(block.weight + b) * exp(log_joint - load(total + b));
            sum_below += share * (log_joint - load(reach + at));
        }
        out[split] += sum(sum_below);
    }
    for (int leaf = 0; leaf < leaves; ++leaf) {
        Vec count = {};
        for (int b = 0; b < n; b += kLanes) {
            const int64_t at = int64_t{leaf} * n + b;
            const Vec responsibility = load(block.weight + b) * exp(load(say + at) - load(total + b));
            store(member + at, responsibility);
            count += responsibility;
        }
        if (beliefs.by_code) statistics[int64_t{leaf} * k + block.code] += sum(count);
    }
    if (!beliefs.by_code) add_dots(member, leaves, n, block.statistics, block.statistics_stride, k, statistics);
}

void histogram(const Grid& grid, const Block& block, int k, const double* mass, double* out,
               std::vector<double>& scratch) {
    const int n = block.n, bins = grid.edges + 1;
    const bool by_code = block.statistics == nullptr;
    const int per_cut = by_code ? 1 : k;
    // Everything, then the left of each cut.
    const int groups = 1 + grid.cuts;
    const int size = (groups * per_cut + kGroupPad - 1) / kGroupPad * kGroupPad;
    const int64_t cells = by_code ? int64_t{k} * size : size;
    const int padded = (groups + kGroupPad - 1) / kGroupPad * kGroupPad, width = grid.width;
    double* value = grown(scratch, int64_t{n} * (grid.directions + padded + size + width) + int64_t{width} * padded);
    double* side = value + int64_t{grid.directions} * n;   // (n, padded)
    double* shares = side + int64_t{padded} * n;           // (n, size)
    double* plane = shares + int64_t{size} * n;            // (width, padded)
    double* row = plane + int64_t{width} * padded;         // (n, width)
    product(grid.direction, grid.directions, width, block.design, block.stride, value, n);
    // Sides by rows, as they are needed. Every row lies inside of the first group, by its 1; none inside of padding.
    std::fill_n(plane, int64_t{width} * padded, 0.0);
    plane[0] = 1.0;
    for (int j = 0; j < width; ++j) {
        for (int cut = 0; cut < grid.cuts; ++cut)
            plane[int64_t{j} * padded + 1 + cut] = grid.cut[int64_t{cut} * width + j];
        for (int b = 0; b < n; ++b) row[int64_t{b} * width + j] = block.design[j * block.stride + b];
    }
    product(row, n, width, plane, padded, side, padded);
    for (int direction = 0; direction < grid.directions; ++direction) {
        // In the place of values, the bins: the number of edges below.
        const double* edge = grid.edge + int64_t{direction} * grid.edges;
        double* own = value + int64_t{direction} * n;
        for (int b = 0; b < n; b += kLanes) {
            const Vec x = load(own + b);
            Bits bin = {};
            for (int e = 0; e < grid.edges; ++e) bin -= x > edge[e];
            store(own + b, __builtin_convertvector(bin, Vec));
        }
    }
    for (int b = 0; b < n; ++b) {
        const double* inside = side + int64_t{b} * padded;
        double* share = shares + int64_t{b} * size;
        if (by_code) {
            for (int s = 0; s < size; s += kLanes) store(share + s, load(inside + s) > 0.0 ? all(mass[b]) : Vec{});
            continue;
        }
        std::fill_n(share, size, 0.0);
        for (int s = 0; s < k; ++s) {
            const double own = mass[b] * block.statistics[s * block.statistics_stride + b];
            for (int group = 0; group < groups; ++group) share[group * k + s] = inside[group] > 0.0 ? own : 0.0;
        }
    }
    // The bins of one direction stay in cache.
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

// What is left of a whole without a part: nothing, where only their rounding is left.
inline Vec remainder(Vec whole, Vec part) {
    const Vec left = whole - part;
    return left > 1e-12 * whole ? left : Vec{};
}

// Log evidence, up to that of no rows, of counts (k, stride) with a Dirichlet prior.
inline Vec log_beta(const double* counts, int stride, const double* others, int k, const double* prior) {
    Vec total = {}, out = {}, factor = all(1.0), total_factor = all(1.0);
    for (int code = 0; code < k; ++code) {
        Vec count = load(counts + int64_t{code} * stride);
        if (others) count = remainder(load(others + int64_t{code} * stride), count);
        count += prior[code];
        total += count;
        out += log_gamma(count, factor);
        // More factors might be too large for a double, or too small.
        if (code % 8 == 7) out -= log(std::exchange(factor, all(1.0)));
    }
    out -= log_gamma(total, total_factor);
    return out - log(factor / total_factor);
}

void threshold_gains(const double* histogram, int bins, int k, int size, const double* prior, double* out,
                     std::vector<double>& scratch) {
    const int64_t cells = int64_t{k} * size;
    const int edges = bins - 1;
    double* total = grown(scratch, 4 * cells + 2 * size);
    double* below = total + cells;
    double* right_total = below + cells;
    double* right_below = right_total + cells;
    double* whole = right_below + cells;  // (2, size), what either side is worth without an edge
    std::fill(total, total + 4 * cells, 0.0);
    for (int bin = 0; bin < bins; ++bin)
        for (int64_t cell = 0; cell < cells; ++cell) total[cell] += histogram[bin * cells + cell];
    // The first group holds everything: what is right of a cut is what is not left of it.
    const auto subtract = [&](const double* counts, double* right) {
        for (int code = 0; code < k; ++code)
            for (int64_t at = int64_t{code} * size; at < int64_t{code + 1} * size; at += kLanes)
                store(right + at, remainder(all(counts[int64_t{code} * size]), load(counts + at)));
    };
    subtract(total, right_total);
    const std::vector<double> nothing(static_cast<size_t>(k) * kLanes, 0.0);
    const Vec base = log_beta(nothing.data(), kLanes, nullptr, k, prior);
    for (int group = 0; group < size; group += kLanes)
        for (int side = 0; side < 2; ++side) {
            const double* own_total = (side ? right_total : total) + group;
            store(whole + side * size + group, log_beta(own_total, size, nullptr, k, prior) + base);
        }
    for (int edge = 0; edge < edges; ++edge) {
        const double* bin = histogram + int64_t{edge} * cells;
        for (int64_t cell = 0; cell < cells; ++cell) below[cell] += bin[cell];
        subtract(below, right_below);
        for (int group = 0; group < size; group += kLanes) {
            for (int side = 0; side < 2; ++side) {
                const double* own_total = (side ? right_total : total) + group;
                const double* own_below = (side ? right_below : below) + group;
                const Vec gain = log_beta(own_below, size, nullptr, k, prior) +
                                 log_beta(own_below, size, own_total, k, prior) - load(whole + side * size + group);
                for (int lane = 0; lane < kLanes; ++lane)
                    out[(int64_t{group + lane} * 2 + side) * edges + edge] = gain[lane];
            }
        }
    }
}

}  // namespace

extern const Kernels RETICULUM_KERNELS;
const Kernels RETICULUM_KERNELS = {RETICULUM_NAME,    pass<double>, pass<float>, membership_sums, memberships, leaf_views,
                                   likelihoods_below, moments, project,         threshold_gains, histogram};

}  // namespace reticulum
