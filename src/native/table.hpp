// The table: rows, their targets and weights as requests read them, block by block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "floats.hpp"
#include "gaps.hpp"
#include "kernels/kernels.hpp"
#include "plan.hpp"
#include "units.hpp"

namespace reticulum {

// Memory for the columns of blocks that are made for one request.
struct BlockMemory {
    std::vector<double> doubles;
    std::vector<float> floats;
};

// Rows are sorted by the code of their target, and those of a code by whether they have gaps: such a segment is padded
// to whole vectors. Arrays are read where they are; of columns it keeps a copy of its own if `keep` says so.
class Table {
  public:
    // Of a view or sample the kept columns are copied from the `whole` table, where the rows lie at these `places`; -1
    // is padding.
    //
    // Statistics (k, n) are given where targets have neither codes nor factors. With `targets` (2, n), means and
    // variances, they are the products of factors; leaves are linear along the columns of `basis` (columns, slopes).
    Table(Cells X, In<int64_t, 1> index, In<int64_t, 1> segments, In<int64_t, 1> gap_starts, In<int32_t, 1> codes,
          int k, std::optional<In<double, 2>> statistics, std::optional<In<double, 2>> targets,
          std::optional<In<double, 2>> basis, In<double, 1> weights, In<double, 1> mass,
          std::optional<In<double, 1>> log_reach, std::optional<In<double, 1>> log_other, const Units& units,
          const Gaps& gaps, In<double, 1> tail, bool keep, const Table* whole, std::optional<In<int64_t, 1>> places)
        : X_(X), index_(index), segments_(segments), gap_starts_(gap_starts), codes_(codes), k_(k),
          statistics_(statistics), targets_(targets), weights_(weights), mass_(mass), log_reach_(log_reach),
          log_other_(log_other), units_(units), gaps_(gaps), n_(static_cast<int64_t>(index.size())),
          width_(static_cast<int>(units.center.size()) + 1), tail_(copied(tail)) {
        require(static_cast<int>(tail_.size()) < width_, "the tail is longer than the row");
        units_.require_cells(X);
        gaps_.require_within(X, width_);
        require_rows(basis.has_value());
        require_segments();
        if (targets_) set_basis(basis);
        if (!keep) return;
        kept_.resize(static_cast<size_t>(n_ * n_kept_columns()) + kLine / sizeof(double));
        double* design = aligned(kept_.data());
        if (whole) {
            copy_from(*whole, places, design);
        } else {
            units_.fill(X_, index_.data(), static_cast<int>(n_), design, n_);
            gaps_.fill(X_, units_, index_.data(), static_cast<int>(n_), design, design + n_ * width_, n_);
            fill_factors(design, n_, 0, n_, design + n_ * first_factor());
        }
    }

    int64_t n_rows() const { return n_; }
    int width() const { return width_; }
    // Columns that information has a matrix for; those behind them, the tail, share one number, times their variances.
    int lead() const { return width_ - static_cast<int>(tail_.size()); }
    const std::vector<double>& tail() const { return tail_; }
    const Gaps& gaps() const { return gaps_; }
    int n_statistics() const { return k_; }
    bool has_codes() const { return !statistics_ && !targets_; }
    bool has_factors() const { return targets_.has_value(); }
    // Columns of a block from which statistics are made: 0 where targets have codes.
    int n_factors() const { return targets_ ? n_slopes_ + 2 : statistics_ ? k_ : 0; }
    const double* mass() const { return mass_.data(); }
    bool is_row(int64_t place) const { return index_.data()[place] >= 0; }

    Plan plan(int rows, int64_t chunk_rows = kChunkRows) const {
        return plan_blocks({segments_.data(), gap_starts_.data(), codes_.data(), codes_.size()}, rows, chunk_rows);
    }

    // One block of rows; its columns are those that are kept, or are made in `memory`.
    template <typename Real>
    BlockOf<Real> block(const Part& part, BlockMemory& memory) const {
        if constexpr (std::is_same_v<Real, double>)
            return block_of_doubles(part, memory);
        else
            return block_of_floats(part, memory);
    }

  private:
    int64_t first_factor() const { return width_ + gaps_.size(); }
    int64_t n_kept_columns() const { return first_factor() + (targets_ ? n_slopes_ + 2 : 0); }

    // Keeps the entries of the basis that are not zero, by slope.
    void set_basis(const std::optional<In<double, 2>>& basis) {
        if (basis) {
            require(static_cast<int>(basis->shape(0)) == width_ - 1, "the basis needs a row for each column");
            n_slopes_ = static_cast<int>(basis->shape(1));
            for (int slope = 0; slope < n_slopes_; ++slope)
                for (int column = 0; column < width_ - 1; ++column) {
                    const double part = basis->data()[int64_t{column} * n_slopes_ + slope];
                    if (part != 0.0) loadings_.push_back({slope, column, part});
                }
        }
        require(k_ == (n_slopes_ + 2) * (n_slopes_ + 3) / 2, "numbers have products of pairs as statistics");
    }

    // Sets the factors of n rows from `start` on: target, 1, and the columns that leaves are linear in.
    void fill_factors(const double* design, int64_t stride, int64_t start, int64_t n, double* out) const {
        if (!targets_) return;
        std::copy_n(targets_->data() + start, n, out);
        std::fill_n(out + stride, n, 1.0);
        double* columns = out + 2 * stride;
        for (int slope = 0; slope < n_slopes_; ++slope) std::fill_n(columns + slope * stride, n, 0.0);
        for (const auto& [slope, column, part] : loadings_)
            for (int64_t b = 0; b < n; ++b) columns[slope * stride + b] += part * design[(column + 1) * stride + b];
    }

    void require_rows(bool has_basis) const {
        require(gap_starts_.size() == codes_.size(), "each segment needs a place where gaps start");
        require(n_ % kPad == 0, "rows must be padded");
        require(segments_.size() == codes_.size() + 1, "each segment needs a code");
        require(static_cast<int64_t>(weights_.size()) == n_ && static_cast<int64_t>(mass_.size()) == n_,
                "each row needs a weight");
        require(log_reach_.has_value() == log_other_.has_value(), "log_reach and log_other belong together");
        if (log_reach_)
            require(static_cast<int64_t>(log_reach_->size()) == n_ && static_cast<int64_t>(log_other_->size()) == n_,
                    "each row needs a reach");
        require(targets_ || !has_basis, "a basis belongs to targets");
        if (statistics_)
            require(static_cast<int>(statistics_->shape(0)) == k_ && static_cast<int64_t>(statistics_->shape(1)) == n_,
                    "each row needs statistics");
        if (targets_)
            require(!statistics_ && targets_->shape(0) == 2 && static_cast<int64_t>(targets_->shape(1)) == n_,
                    "each row needs a target and its variance");
        const int64_t cells = static_cast<int64_t>(X_.shape(0));
        for (int64_t b = 0; b < n_; ++b)
            require(index_.data()[b] >= -1 && index_.data()[b] < cells, "a row lies outside of X");
    }

    void require_segments() const {
        int64_t before = 0;
        for (size_t s = 0; s < codes_.size(); ++s) {
            const int64_t stop = segments_.data()[s + 1];
            require(segments_.data()[s] == before && stop >= before && stop % kPad == 0 && stop <= n_,
                    "segments must follow one another");
            require(!has_codes() || (codes_.data()[s] >= 0 && codes_.data()[s] < k_), "a code is out of range");
            before = stop;
        }
        require(segments_.data()[0] == 0 && before == n_, "segments must hold all rows");
    }

    void copy_from(const Table& whole, const std::optional<In<int64_t, 1>>& places, double* design) const {
        require(places && static_cast<int64_t>(places->size()) == n_, "each row needs a place in the whole table");
        require(whole.n_kept_columns() == n_kept_columns() && !whole.kept_.empty(), "the whole table is another");
        const int64_t* place = places->data();
        for (int64_t b = 0; b < n_; ++b)
            require(place[b] >= -1 && place[b] < whole.n_, "a row lies outside of the whole table");
        const double* from = aligned(whole.kept_.data());
        for (int64_t column = 0; column < n_kept_columns(); ++column, from += whole.n_, design += n_)
            for (int64_t b = 0; b < n_; ++b) design[b] = place[b] < 0 ? 0.0 : from[place[b]];
    }

    Block block_of_doubles(const Part& part, BlockMemory& memory) const {
        Block block{};
        block.n = part.n;
        block.code = part.code;
        if (kept_.empty()) {
            memory.doubles.resize(static_cast<size_t>(n_kept_columns()) * part.n + kPad);
            double* design = aligned(memory.doubles.data());
            const int64_t* index = index_.data() + part.start;
            units_.fill(X_, index, part.n, design, part.n);
            block.design = design;
            block.stride = part.n;
            if (part.has_gaps) gaps_.fill(X_, units_, index, part.n, design, design + int64_t{width_} * part.n, part.n);
            fill_factors(design, part.n, part.start, part.n, design + first_factor() * part.n);
        } else {
            block.design = aligned(kept_.data()) + part.start;
            block.stride = n_;
        }
        if (part.has_gaps) block.missing = block.design + width_ * block.stride;
        if (statistics_) {
            block.statistics = statistics_->data() + part.start;
            block.statistics_stride = n_;
        } else if (targets_) {
            block.statistics = block.design + first_factor() * block.stride;
            block.statistics_stride = block.stride;
            block.factors = n_slopes_ + 2;
            block.variance = targets_->data() + n_ + part.start;
        }
        block.weight = weights_.data() + part.start;
        if (log_reach_) {
            block.log_reach = log_reach_->data() + part.start;
            block.log_other = log_other_->data() + part.start;
        }
        return block;
    }

    BlockOf<float> block_of_floats(const Part& part, BlockMemory& memory) const {
        BlockOf<float> block{};
        block.n = part.n;
        block.code = part.code;
        if (kept_.empty()) {
            const Block from = block_of_doubles(part, memory);
            const int64_t size = from.stride * (width_ + (part.has_gaps ? gaps_.size() : 0));
            memory.floats.resize(static_cast<size_t>(size + kPad));
            std::copy_n(from.design, size, aligned(memory.floats.data()));
            block.design = aligned(memory.floats.data());
            block.stride = from.stride;
        } else {
            std::call_once(floats_->design_is_made, [&] {
                const size_t size = static_cast<size_t>(n_) * n_kept_columns();
                floats_->design.resize(size + kPad);
                std::copy_n(aligned(kept_.data()), size, aligned(floats_->design.data()));
            });
            block.design = aligned(floats_->design.data()) + part.start;
            block.stride = n_;
        }
        std::call_once(floats_->weights_are_made, [&] {
            floats_->weights.assign(weights_.data(), weights_.data() + n_);
            if (!log_reach_) return;
            floats_->log_reach.assign(log_reach_->data(), log_reach_->data() + n_);
            floats_->log_other.assign(log_other_->data(), log_other_->data() + n_);
        });
        if (part.has_gaps) block.missing = block.design + width_ * block.stride;
        block.weight = floats_->weights.data() + part.start;
        if (log_reach_) {
            block.log_reach = floats_->log_reach.data() + part.start;
            block.log_other = floats_->log_other.data() + part.start;
        }
        return block;
    }

    Cells X_;
    In<int64_t, 1> index_, segments_, gap_starts_;
    In<int32_t, 1> codes_;
    int k_;
    std::optional<In<double, 2>> statistics_, targets_;
    In<double, 1> weights_, mass_;
    std::optional<In<double, 1>> log_reach_, log_other_;
    Units units_;
    Gaps gaps_;
    int64_t n_;
    int width_;
    // A column that leaves are linear in has this part of a column of the design.
    struct Loading {
        int slope, column;
        double part;
    };
    int n_slopes_ = 0;
    std::vector<Loading> loadings_;
    std::vector<double> tail_;
    std::vector<double> kept_;  // (columns, gaps and factors, n) from the first line on, or empty
    std::unique_ptr<FloatRows> floats_ = std::make_unique<FloatRows>();
};

}  // namespace reticulum
