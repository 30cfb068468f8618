// The request for a pass: log normalizers, statistics, gradients and information of a stack of trees.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "blocks.hpp"
#include "floats.hpp"
#include "instruction_sets.hpp"
#include "trees.hpp"

namespace reticulum {

// The sums of a pass with memory for those by gap, all of which chunks are added to.
class PassTotals {
  public:
    PassTotals(const Sums& to, const Trees& trees, int k) : sums(to) {
        const int64_t splits = int64_t{trees.c} * trees.m, leaves = int64_t{trees.c} * trees.leaves();
        const int64_t pairs = trees.pairs(), q = trees.gaps, mixed = q * trees.lead, gap_pairs = q * (q + 1) / 2;
        const int64_t observed = to.observed ? splits : 0, complete = to.complete ? splits : 0;
        by_gap_.resize(static_cast<size_t>(splits * q));
        by_gaps_.resize(static_cast<size_t>(2 * observed * (mixed + gap_pairs)));
        sums.by_gap = by_gap_.data();
        sums.observed_by_gap = by_gaps_.data();
        sums.complete_by_gap = sums.observed_by_gap + observed * mixed;
        sums.observed_by_gaps = sums.complete_by_gap + observed * mixed;
        sums.complete_by_gaps = sums.observed_by_gaps + observed * gap_pairs;
        totals = {
            {to.log_normalizer, trees.c},
            {to.statistics, leaves * k},
            {to.gradient, to.gradient ? splits * trees.width : 0},
            {to.observed, observed * pairs},
            {to.complete, complete * pairs},
            {sums.by_gap, splits * q},
            {sums.observed_by_gap, observed * mixed},
            {sums.complete_by_gap, complete * mixed},
            {sums.observed_by_gaps, observed * gap_pairs},
            {sums.complete_by_gaps, complete * gap_pairs},
        };
    }
    PassTotals(const PassTotals&) = delete;

    // The sums of one chunk, in the order of the totals.
    Sums of_chunk(double* const* at) const {
        return {at[0],
                at[1],
                sums.gradient ? at[2] : nullptr,
                sums.observed ? at[3] : nullptr,
                sums.complete ? at[4] : nullptr,
                at[5],
                at[6],
                at[7],
                at[8],
                at[9]};
    }

    Sums sums;
    std::vector<Total> totals;

  private:
    std::vector<double> by_gap_, by_gaps_;
};

// Rows of a block of which a pass fits into the cache.
template <typename Real>
int pass_rows(const Table& table, const Trees& trees, const Sums& sums) {
    const int64_t splits = int64_t{trees.c} * trees.m, leaves = int64_t{trees.c} * trees.leaves();
    const int64_t kinds = (sums.observed != nullptr) + (sums.complete != nullptr);
    const int64_t by_gaps = trees.gaps ? splits * (3 + 2 * kinds) : 0;
    const int64_t floats = trees.width + trees.gaps + (table.has_codes() ? 0 : table.n_factors() + 2 * leaves) +
                           splits * (1 + kinds) + 3 * int64_t{trees.leaves()} + by_gaps;
    return block_rows((floats * sizeof(Real) + sizeof(double) - 1) / sizeof(double));
}

// Adds the sums of a pass over the table in doubles or in floats. Likelihoods follow from expected parameters (c,
// leaves, k).
template <typename Real>
void add_pass(const Table& table, const Trees& given, const double* parameters, int threads, const Sums& to) {
    const SoftenedTrees softened(table, given);
    const LikelihoodTable likelihood_table(table, given, parameters);
    const Rounded<Real> rounded(softened.trees, likelihood_table.likelihoods);
    const PassTotals totals(to, softened.trees, table.n_statistics());
    const Plan plan = table.plan(pass_rows<Real>(table, softened.trees, to));
    sum_blocks<Real>(table, plan, threads, totals.totals,
                     [&](const BlockOf<Real>& block, int64_t, double* const* sums, Scratch& scratch) {
                         if constexpr (std::is_same_v<Real, double>)
                             kernels.pass(rounded.trees, rounded.likelihoods, block, totals.of_chunk(sums), scratch);
                         else
                             kernels.pass_of_floats(rounded.trees, rounded.likelihoods, block, totals.of_chunk(sums),
                                                    scratch);
                     });
    if (table.gaps().size()) table.gaps().finish(softened.trees, totals.sums);
}

// Adds to log_normalizer (c), statistics (c, leaves, k), gradient (c, m, width), and if they are given to observed-data
// and complete-data information (c, m, pairs), packed by rows of the upper triangle.
inline void pass(const Table& table, In<double, 3> hyperplanes, In<int64_t, 2> children, In<double, 3> parameters,
                 int threads, Out<1> log_normalizer, Out<3> statistics, Out<3> gradient, std::optional<Out<3>> observed,
                 std::optional<Out<3>> complete, bool in_floats) {
    const Trees trees = checked_trees(table, hyperplanes, children);
    require_parameters(table, trees, parameters);
    const int64_t splits = int64_t{trees.c} * trees.m, leaves = int64_t{trees.c} * trees.leaves();
    const bool information = observed.has_value() && complete.has_value();
    require(static_cast<int64_t>(log_normalizer.size()) == trees.c, "log_normalizer has another size");
    require(static_cast<int64_t>(statistics.size()) == leaves * table.n_statistics(), "statistics have another size");
    require(static_cast<int64_t>(gradient.size()) == splits * trees.width, "the gradient has another size");
    if (information)
        require(static_cast<int64_t>(observed->size()) == splits * trees.pairs() &&
                    static_cast<int64_t>(complete->size()) == splits * trees.pairs(),
                "the information has another size");
    require(!in_floats || table.has_codes(), "only targets with codes are passed over in floats");
    const Sums sums = {log_normalizer.data(), statistics.data(), gradient.data(),
                       information ? observed->data() : nullptr, information ? complete->data() : nullptr};
    nb::gil_scoped_release release;
    if (in_floats)
        add_pass<float>(table, trees, parameters.data(), threads, sums);
    else
        add_pass<double>(table, trees, parameters.data(), threads, sums);
}

}  // namespace reticulum
