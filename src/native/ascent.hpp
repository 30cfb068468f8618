// The ascent of a stack of trees: passes over all trees side by side, until each is done.
//
// docs/design.md says what is done and why. Where trees are small it is not the rows that take the time but the
// handling of a few numbers between two passes.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "floats.hpp"
#include "leaves.hpp"
#include "passes.hpp"
#include "tree_ascent.hpp"
#include "trees.hpp"

namespace reticulum {

class Ascent {
  public:
    Ascent(PassSource& source, const AscentSetting& setting, const int64_t* children, std::vector<TreeAscent> trees)
        : source_(source), setting_(setting), children_(children), trees_(std::move(trees)) {}

    void run() {
        int information_age = 0;
        for (int turn = 0; turn < setting_.effort.max_passes; ++turn) {
            std::vector<int> live;
            // Trees that have not converged by the last pass are to be judged, too.
            const bool is_last = turn + 1 == setting_.effort.max_passes;
            bool information = is_last, complete = false;
            for (int t = 0; t < static_cast<int>(trees_.size()); ++t)
                if (!trees_[t].is_done()) {
                    live.push_back(t);
                    information |= information_age >= trees_[t].information_lifetime();
                    complete |= trees_[t].needs_complete();
                }
            if (live.empty()) break;
            information_age = information ? 0 : information_age + 1;
            pass(live, information, complete && !setting_.fixed);
            if (PyErr_CheckSignals()) throw nb::python_error();
            for (size_t i = 0; i < live.size(); ++i) trees_[live[i]].advance(tree_pass(i, information, is_last));
        }
        std::vector<int> without;
        for (int t = 0; t < static_cast<int>(trees_.size()); ++t)
            if (!trees_[t].has_log_evidence()) {
                without.push_back(t);
                trees_[t].stay();
            }
        if (without.empty()) return;
        pass(without, true, false);
        for (size_t i = 0; i < without.size(); ++i) trees_[without[i]].finish(tree_pass(i, true, true));
    }

  private:
    // Complete-data information, if it is wanted, is part of information.
    void pass(const std::vector<int>& trees, bool information, bool complete) {
        const int count = static_cast<int>(trees.size()), leaves = setting_.m + 1;
        hyperplanes_.clear();
        statistics_.clear();
        for (int t : trees) {
            const TreeAscent& tree = trees_[t];
            hyperplanes_.insert(hyperplanes_.end(), tree.trial_hyperplanes().begin(), tree.trial_hyperplanes().end());
            statistics_.insert(statistics_.end(), tree.trial_statistics().begin(), tree.trial_statistics().end());
        }
        expected_.resize(statistics_.size());
        leaf_evidence_.resize(static_cast<size_t>(count) * leaves);
        setting_.leaves.evaluate(statistics_.data(), int64_t{count} * leaves, expected_.data(), leaf_evidence_.data());
        if (setting_.in_floats) round_to_floats(expected_.data(), count, leaves, setting_.k);
        const Trees stack = {count, setting_.m, setting_.columns.width, hyperplanes_.data(), children_};
        // Fixed hyperplanes need no gradient.
        source_.pass(stack, expected_.data(), {!setting_.fixed, information, complete}, sums_);
        for (int i = 0; i < count; ++i) hide_absent(i, trees_[trees[i]].absent());
    }

    // Leaves columns that are absent from splits out of the i-th tree of the last pass.
    void hide_absent(int i, const std::vector<std::vector<int>>& absent) {
        for (int split = 0; split < setting_.m; ++split)
            for (int column : absent[split]) {
                const int64_t place = int64_t{i} * setting_.m + split;
                if (!sums_.gradient.empty()) sums_.gradient[place * setting_.columns.width + column] = 0.0;
                for (Values* information : {&sums_.observed, &sums_.complete})
                    if (!information->empty())
                        hide_column(setting_.columns, column, information->data() + place * setting_.columns.pairs());
            }
    }

    TreePass tree_pass(size_t i, bool has_information, bool is_last) const {
        const auto part = [i](const Values& of_stack, int64_t size) {
            return of_stack.empty() ? nullptr : of_stack.data() + static_cast<int64_t>(i) * size;
        };
        const int64_t planes = setting_.plane_size(), sums = setting_.sums_size();
        const int64_t pairs = setting_.m * setting_.columns.pairs();
        return {sums_.log_normalizer[i],
                part(leaf_evidence_, setting_.m + 1),
                part(expected_, sums),
                part(sums_.statistics, sums),
                part(sums_.gradient, planes),
                part(sums_.observed, pairs),
                part(sums_.complete, pairs),
                has_information,
                is_last};
    }

    PassSource& source_;
    const AscentSetting& setting_;
    const int64_t* children_;
    std::vector<TreeAscent> trees_;
    // The last pass.
    Values hyperplanes_, statistics_, expected_, leaf_evidence_;
    PassSums sums_;
};

// Ascends in place: hyperplanes (c, m, width), precisions (c, m) and statistics (c, leaves, k).
inline void ascend(PassSource& passes, const Leaves& leaves, In<int64_t, 2> children, Out<3> hyperplanes,
                   Out<2> precisions, Out<3> statistics, bool fixed, bool sparse, double tolerance, int rounds,
                   int max_passes, double least, Out<1> log_evidence, Out<2> prices) {
    const Columns& columns = passes.columns();
    const int c = static_cast<int>(hyperplanes.shape(0)), m = static_cast<int>(hyperplanes.shape(1));
    const int k = passes.n_statistics();
    require(static_cast<int>(hyperplanes.shape(2)) == columns.width, "hyperplanes need one slope for each column");
    require(static_cast<int>(children.shape(0)) == m && children.shape(1) == 2, "each split has two children");
    require_tree(m, children.data());
    for (const auto& shape : {std::pair{precisions.shape(0), precisions.shape(1)}, {prices.shape(0), prices.shape(1)}})
        require(static_cast<int>(shape.first) == c && static_cast<int>(shape.second) == m,
                "each split needs a precision");
    require(static_cast<int>(statistics.shape(0)) == c && static_cast<int>(statistics.shape(1)) == m + 1 &&
                static_cast<int>(statistics.shape(2)) == k && static_cast<int>(log_evidence.size()) == c,
            "each leaf needs statistics");
    require(leaves.n_statistics() == k, "leaves have another number of statistics than rows");
    require(!sparse || columns.tail() == 0, "only trees on all columns can be sparse");
    const AscentSetting setting = {columns, m, k, fixed, passes.in_floats(), {tolerance, rounds, max_passes, least},
                                   leaves};
    std::vector<TreeAscent> trees;
    for (int64_t t = 0; t < c; ++t)
        trees.emplace_back(
            setting,
            TreeOut{hyperplanes.data() + t * setting.plane_size(), precisions.data() + t * m,
                    statistics.data() + t * setting.sums_size(), log_evidence.data() + t, prices.data() + t * m},
            sparse);
    Ascent(passes, setting, children.data(), std::move(trees)).run();
}

}  // namespace reticulum
