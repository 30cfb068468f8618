// One pass over a block: log normalizers, statistics, gradients and information of a stack of trees.
//
// This header is compiled once for each instruction set (see kernels.cpp); everything in it has internal linkage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gates.hpp"
#include "logs.hpp"
#include "statistics.hpp"

namespace reticulum {
namespace {

// The pass over one block, in the order of `run`.
//
// Methods copy members into local variables before a loop: `store` may write to any memory, so that compilers would
// have to load members again for each vector.
template <typename Real>
class BlockPass {
    using Vec = VecOf<Real>;
    static constexpr int kLanes = kLanesOf<Real>;

  public:
    BlockPass(const TreesOf<Real>& trees, const LikelihoodsOf<Real>& likelihoods, const BlockOf<Real>& block,
              const Sums& sums, Scratch& scratch)
        : trees_(trees), likelihoods_(likelihoods), block_(block), sums_(sums) {
        const int64_t n = block.n, m = trees.m, leaves = trees.leaves();
        kinds_ = sums.observed ? (sums.complete ? 2 : 1) : 0;
        splits_ = trees.c * m;
        const int64_t by_rows = likelihoods.by_code ? 0 : trees.c * leaves;
        const int64_t members = likelihoods.by_code ? leaves : by_rows;
        const int64_t softs = block.missing ? splits_ : 0;
        Parts<Real> parts(scratch,
                          n * (splits_ * (1 + kinds_) + 2 * m + members + 2 + by_rows + softs * (3 + 2 * kinds_)) +
                              Parts<Real>::size_of_flags(m) + Parts<Real>::size_of_flags(splits_));
        slope_ = parts.next(splits_ * n);
        curvature_ = parts.next(kinds_ * splits_ * n);
        gate_ = parts.next(m * n);
        reach_ = parts.next(m * n);
        member_ = parts.next(members * n);
        total_ = parts.next(n);
        shift_ = parts.next(n);
        log_likelihood_ = parts.next(by_rows * n);
        soft_ = parts.next(softs * n);
        softened_ = parts.next(softs * n);
        pulled_ = parts.next(softs * n);
        step_ = parts.next(kinds_ * softs * n);
        twice_ = parts.next(kinds_ * softs * n);
        alive_ = parts.next_flags(m);
        any_alive_ = parts.next_flags(splits_);
        std::fill_n(any_alive_, splits_, char{0});
    }

    void run() {
        // All splits of a small tree are reached: their activations are made for the whole stack at once.
        is_small_ = trees_.m < 2 * kTileRows;
        if (is_small_) activate(trees_, 0, static_cast<int>(splits_), block_, slope_, soft_);
        if (!likelihoods_.by_code)
            multiply_statistics(likelihoods_.parameters, trees_.c * trees_.leaves(), likelihoods_.k, block_,
                                log_likelihood_);
        Real* members = member_;
        for (int tree = 0; tree < trees_.c; ++tree) {
            if (!likelihoods_.by_code) member_ = members + int64_t{tree} * trees_.leaves() * block_.n;
            add_tree(tree);
        }
        // The statistics of all trees at once: tiles of sums are then full.
        if (!likelihoods_.by_code)
            add_statistics(members, trees_.c * trees_.leaves(), block_, likelihoods_.k, sums_.statistics);
        add_products();
    }

  private:
    bool has_gaps() const { return block_.missing != nullptr; }

    void add_tree(int tree) {
        const bool by_code = likelihoods_.by_code;
        const int m = trees_.m, leaves = trees_.leaves(), n = block_.n;
        const int64_t first = int64_t{tree} * m * n;
        const int64_t by_block_code = by_code ? int64_t{block_.code} * trees_.c + tree : 0;
        const Real* table = by_code ? likelihoods_.likelihood + by_block_code * leaves : nullptr;
        const Real* row_log_likelihood = by_code ? nullptr : log_likelihood_ + int64_t{tree} * leaves * n;
        const Descent<Real> descent = {slope_ + first, soft_ + (has_gaps() ? first : 0), gate_, reach_, member_,
                                       alive_};
        // Likelihoods in the table are at most 1, and at least the smallest one: a responsibility is at most the
        // membership over that. Where likelihoods differ from row to row there is no such bound.
        Real negligible = 0;
        if (by_code) negligible = Real(kNegligible) * *std::min_element(table, table + leaves);
        descend(trees_, tree, block_, negligible, is_small_, descent);
        if (by_code) product(table, 1, leaves, member_, n, total_, n);
        const bool safe = sum_joints(by_code ? likelihoods_.offset[by_block_code] : Real(0), row_log_likelihood);
        if (!safe) {
            // Nothing is negligible now: activations and gates of all splits are needed.
            descend(trees_, tree, block_, Real(-1), is_small_, descent);
            descend_logs(trees_, descent.activation, n, reach_, member_);
            const Real* code_log_likelihood = by_code ? likelihoods_.log_likelihood + by_block_code * leaves : nullptr;
            joints_from_logs(leaves, block_, row_log_likelihood, code_log_likelihood, member_, total_, shift_);
        }
        add_log_normalizer(tree);
        // Where targets have codes, joints become responsibilities on the way up, by a factor for each row and, where
        // they are still memberships, one for each leaf.
        const bool on_the_way = by_code && m > 0;
        if (!on_the_way) divide_joints(tree);
        if (has_gaps()) std::copy_n(descent.activation, int64_t{m} * n, softened_ + first);
        ascend(tree, on_the_way, on_the_way && safe ? table : nullptr);
    }

    // Sets `total` to the sum of each row's joints over exp(shift). Where likelihoods differ from row to row,
    // memberships are replaced by joints; where they do not, `total` is given without the rest of the tree.
    //
    // Returns whether products of gates and likelihoods can stand for their logs.
    bool sum_joints(Real offset, const Real* row_log_likelihood) {
        const BlockOf<Real> block = block_;
        const bool by_code = row_log_likelihood == nullptr;
        const int n = block.n, leaves = trees_.leaves();
        Real *member = member_, *total = total_, *shift = shift_;
        Vec least = all(Real(1)), most = all(Real(0));
        for (int b = 0; b < n; b += kLanes) {
            Vec top = all(offset);
            Vec joint_sum = by_code ? load(total + b) : Vec{};
            if (!by_code) {
                top = load(row_log_likelihood + b);
                for (int leaf = 1; leaf < leaves; ++leaf)
                    top = larger(top, load(row_log_likelihood + int64_t{leaf} * n + b));
                for (int leaf = 0; leaf < leaves; ++leaf) {
                    const Vec joint = load(member + int64_t{leaf} * n + b) *
                                      exp(load(row_log_likelihood + int64_t{leaf} * n + b) - top);
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
        for (int lane = 0; lane < kLanes; ++lane)
            safe &= least[lane] > kSmallestTotal<Real> && most[lane] < kLargestExtra<Real>;
        return safe;
    }

    // Adds the weighted logs of `total`, and replaces it by weight over total.
    void add_log_normalizer(int tree) {
        const int n = block_.n;
        const Real* weights = block_.weight;
        Real *total = total_, *shift = shift_;
        WideSum log_sum;
        for (int b = 0; b < n; b += kLanes) {
            const Vec weight = load(weights + b), joint_sum = load(total + b);
            log_sum.add(weight * (log(joint_sum) + load(shift + b)));
            store(total + b, weight / joint_sum);
        }
        sums_.log_normalizer[tree] += sum(log_sum.total);
    }

    // Replaces joints by responsibilities; adds their sums where targets have codes.
    void divide_joints(int tree) {
        const int n = block_.n, leaves = trees_.leaves(), k = likelihoods_.k;
        Real* total = total_;
        for (int leaf = 0; leaf < leaves; ++leaf) {
            Real* joint = member_ + int64_t{leaf} * n;
            Vec count = {};
            for (int b = 0; b < n; b += kLanes) {
                const Vec responsibility = load(joint + b) * load(total + b);
                store(joint + b, responsibility);
                count += responsibility;
            }
            if (likelihoods_.by_code) sums_.statistics[int64_t{tree} * k + block_.code] += sum(count);
        }
        std::fill_n(total, n, Real(1));
    }

    // Up the tree: replaces activations by slopes, sets curvatures, and adds statistics where targets have codes.
    void ascend(int tree, bool adds_statistics, const Real* factor) {
        const int m = trees_.m, n = block_.n, leaves = trees_.leaves(), k = likelihoods_.k;
        const int64_t splits = splits_, kinds = kinds_;
        const bool information = kinds > 0;
        const Real* weights = block_.weight;
        Real *slopes = slope_ + int64_t{tree} * m * n, *curvature = curvature_;
        Real *reach = reach_, *member = member_, *gate = gate_, *total = total_;
        for (int split = m - 1; split >= 0; --split) {
            const int64_t* pair = trees_.children + 2 * split;
            const Real* first = of_child(pair[0], reach, member, n);
            const Real* second = of_child(pair[1], reach, member, n);
            const Real first_factor = pair[0] < 0 && factor ? factor[~pair[0]] : Real(1);
            const Real second_factor = pair[1] < 0 && factor ? factor[~pair[1]] : Real(1);
            Real* below = reach + int64_t{split} * n;
            const Real* g = gate + int64_t{split} * n;
            Real* slope = slopes + int64_t{split} * n;
            if (!alive_[split]) {
                std::fill_n(below, n, Real(0));
                std::fill_n(slope, n, Real(0));
                for (int64_t kind = 0; kind < kinds; ++kind)
                    std::fill_n(curvature + (kind * splits + int64_t{tree} * m + split) * n, n, Real(0));
                continue;
            }
            any_alive_[int64_t{tree} * m + split] = 1;
            Real* observed = curvature + (int64_t{tree} * m + split) * n;
            Real* complete = observed + splits * n;
            Vec left_count = {}, right_count = {};
            for (int b = 0; b < n; b += kLanes) {
                const Vec scale = load(total + b), opened = load(g + b);
                const Vec to_left = load(first + b) * first_factor, to_right = load(second + b) * second_factor;
                const Vec left = to_left * scale, right = to_right * scale, reached = left + right;
                const Vec steep = left - reached * opened;
                store(below + b, to_left + to_right);
                store(slope + b, steep);
                left_count += left;
                right_count += right;
                if (!information) continue;
                const Vec weight = load(weights + b);
                const Vec complete_curvature = reached * opened * (Real(1) - opened);
                // Padding has no weight to divide by.
                const Vec inverse = weight > Real(0) ? Real(1) / weight : Vec{};
                if (kinds > 1) store(complete + b, complete_curvature);
                store(observed + b, complete_curvature - left * (Real(1) - opened - steep * inverse) +
                                        opened * steep * (Real(1) - reached * inverse));
            }
            if (!adds_statistics) continue;
            double* counts = sums_.statistics + int64_t{tree} * leaves * k + block_.code;
            if (pair[0] < 0) counts[~pair[0] * k] += sum(left_count);
            if (pair[1] < 0) counts[~pair[1] * k] += sum(right_count);
        }
    }

    // Adds gradients and information of the splits that are alive, for as many in a row as possible at a time.
    void add_products() {
        for (int64_t first = 0; first < splits_;) {
            if (!any_alive_[first]) {
                ++first;
                continue;
            }
            int64_t last = first + 1;
            while (last < splits_ && any_alive_[last]) ++last;
            const int count = static_cast<int>(last - first);
            if (has_gaps()) {
                soften(first, last);
                add_gap_products(first, count);
            }
            if (sums_.gradient)
                add_dots(slope_ + first * block_.n, count, block_.n, block_.design, block_.stride, trees_.width,
                         sums_.gradient + first * trees_.width);
            for (int64_t kind = 0; kind < kinds_; ++kind) add_information(kind, first, count);
            first = last;
        }
    }

    // Multiplies slopes and curvatures by the derivatives of softened activations: as in rows/gap_sums.py.
    void soften(int64_t first, int64_t last) {
        constexpr Real softening = kSoftening;
        const int64_t n = block_.n, splits = splits_, kinds = kinds_;
        Real *soft = soft_, *softened = softened_, *slope = slope_, *curvature = curvature_;
        Real *pulled = pulled_, *step = step_, *twice = twice_;
        for (int64_t b = first * n; b < last * n; b += kLanes) {
            const Vec s = load(soft + b), a = load(softened + b), steep = load(slope + b);
            const Vec pull = softening * s * s * a;
            store(pulled + b, steep * pull);
            store(slope + b, steep * s);
            // `changing` is the slope where it changes with the activation: complete-data information holds it fixed.
            const auto soften_curvature = [&](int64_t at, Vec changing) {
                // In this order compilers contract the triple, not the product, to a multiplication and addition at
                // once.
                const Vec triple = Real(3) * changing, bent = load(curvature + at), along = bent * a;
                store(step + at, softening * s * s * s * (changing - along));
                store(twice + at, softening * s * s * pull * (along - triple));
                store(curvature + at, bent * s * s);
            };
            if (kinds > 0) soften_curvature(b, steep);
            if (kinds > 1) soften_curvature(splits * n + b, Vec{});
        }
    }

    void add_gap_products(int64_t first, int count) {
        const int n = block_.n, gaps = trees_.gaps;
        const int64_t gap_pairs = int64_t{gaps} * (gaps + 1) / 2, mixed = int64_t{trees_.lead} * gaps;
        add_dots(pulled_ + first * n, count, n, block_.missing, block_.stride, gaps, sums_.by_gap + first * gaps);
        for (int64_t kind = 0; kind < kinds_; ++kind) {
            const int64_t at = (kind * splits_ + first) * n;
            add_mixed(step_ + at, count, n, block_.design, trees_.lead, block_.missing, gaps, block_.stride,
                      (kind ? sums_.complete_by_gap : sums_.observed_by_gap) + first * mixed);
            add_curvatures(twice_ + at, count, n, block_.missing, block_.stride, gaps, 0,
                           (kind ? sums_.complete_by_gaps : sums_.observed_by_gaps) + first * gap_pairs, gap_pairs);
        }
    }

    void add_information(int64_t kind, int64_t first, int count) {
        const int n = block_.n;
        const int64_t pairs = trees_.pairs();
        // Columns behind the lead share one number, the last of the packed ones: the sum of curvatures.
        const int skip = trees_.packed() - trees_.lead;
        const Real* curvature = curvature_ + (kind * splits_ + first) * n;
        double* out = (kind ? sums_.complete : sums_.observed) + first * pairs;
        add_curvatures(curvature, count, n, block_.design, block_.stride, trees_.lead, skip, out, pairs);
        for (int split = 0; skip && split < count; ++split) {
            Vec curvature_sum = {};
            for (int b = 0; b < n; b += kLanes) curvature_sum += load(curvature + int64_t{split} * n + b);
            out[(split + 1) * pairs - 1] += sum(curvature_sum);
        }
    }

    const TreesOf<Real>& trees_;
    const LikelihoodsOf<Real>& likelihoods_;
    const BlockOf<Real>& block_;
    const Sums& sums_;
    int64_t splits_, kinds_;  // of the stack; kinds of information
    bool is_small_ = false;
    Real* slope_;           // (c * m, n): activations at first
    Real* curvature_;       // (kinds, c * m, n): observed, then complete
    Real *gate_, *reach_;   // (m, n) of one tree; on the way up, reach holds joints below each split
    Real* member_;          // (leaves, n) of one tree: memberships, then joints, then responsibilities; those of other
                            // trees are kept where targets have no codes
    Real *total_, *shift_;  // (n)
    Real* log_likelihood_;  // (c * leaves, n) where likelihoods differ from row to row
    Real *soft_, *softened_,
        *pulled_;               // (c * m, n) in blocks with gaps: factors, activations, derivatives by variances
    Real *step_, *twice_;       // (kinds, c * m, n) in blocks with gaps
    char *alive_, *any_alive_;  // (m) of one tree; (c * m)
};

template <typename Real>
void pass(const TreesOf<Real>& trees, const LikelihoodsOf<Real>& likelihoods, const BlockOf<Real>& block,
          const Sums& sums, Scratch& scratch) {
    BlockPass<Real>(trees, likelihoods, block, sums, scratch).run();
}

}  // namespace
}  // namespace reticulum
