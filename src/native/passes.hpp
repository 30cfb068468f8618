// Where an ascent gets its passes from: a table, or any other rows by a call of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

#include "arrays.hpp"
#include "information.hpp"
#include "pass.hpp"
#include "table.hpp"

namespace reticulum {

// Sums of a pass for each tree of a stack; those that are not wanted are empty. Information is packed.
struct PassSums {
    Values log_normalizer, statistics, gradient, observed, complete;
};

// Which sums a pass makes besides log normalizers and statistics. Complete-data information comes with information
// only.
struct PassParts {
    bool gradient, information, complete;
};

class PassSource {
  public:
    PassSource(Columns columns, int n_statistics, bool in_floats)
        : columns_(std::move(columns)), k_(n_statistics), in_floats_(in_floats) {}
    virtual ~PassSource() = default;

    const Columns& columns() const { return columns_; }
    int n_statistics() const { return k_; }
    // Whether sums are made in float32: hyperplanes and expected parameters are then to be rounded beforehand.
    bool in_floats() const { return in_floats_; }

    // A pass at expected parameters (c, leaves, k).
    void pass(const Trees& trees, const double* expected, PassParts parts, PassSums& sums) {
        const int64_t splits = int64_t{trees.c} * trees.m, leaves = int64_t{trees.c} * trees.leaves();
        // A tree without splits has no information.
        parts.information &= splits > 0;
        sums.log_normalizer.assign(trees.c, 0.0);
        sums.statistics.assign(leaves * k_, 0.0);
        sums.gradient.assign(parts.gradient ? splits * columns_.width : 0, 0.0);
        sums.observed.assign(parts.information ? splits * columns_.pairs() : 0, 0.0);
        sums.complete.assign(parts.complete ? sums.observed.size() : 0, 0.0);
        add_pass(trees, expected, sums);
    }

  protected:
    // Adds to those sums that are not empty.
    virtual void add_pass(const Trees& trees, const double* expected, PassSums& sums) = 0;

    Columns columns_;
    int k_;
    bool in_floats_;
};

// Passes over a table, without a return to Python; information is that of hessian rows, a sample of the table or all of
// it, each of which stands for some rows.
class TablePasses : public PassSource {
  public:
    TablePasses(const Table& table, const Table& hessian_rows, double rows_per_hessian_row, int threads,
                int64_t fewest_gates, bool in_floats)
        : PassSource({table.width(), table.tail()}, table.n_statistics(), in_floats), table_(table),
          hessian_rows_(hessian_rows), rows_per_hessian_row_(rows_per_hessian_row), threads_(threads),
          fewest_gates_(fewest_gates) {
        require(!in_floats || (table.has_codes() && hessian_rows.has_codes()),
                "only passes over targets with codes are made in floats");
        require(hessian_rows.width() == table.width() && hessian_rows.n_statistics() == table.n_statistics(),
                "hessian rows are of another kind");
    }

  protected:
    void add_pass(const Trees& trees, const double* expected, PassSums& sums) override {
        Sums without = {sums.log_normalizer.data(), sums.statistics.data(), pointer(sums.gradient), nullptr, nullptr};
        Sums with = without;
        with.observed = pointer(sums.observed);
        with.complete = pointer(sums.complete);
        nb::gil_scoped_release release;
        if (sums.observed.empty() || &hessian_rows_ == &table_) {
            add_pass(table_, trees, expected, with);
            return;
        }
        add_pass(hessian_rows_, trees, expected, with);
        for (double& value : sums.observed) value *= rows_per_hessian_row_;
        for (double& value : sums.complete) value *= rows_per_hessian_row_;
        for (Values* of_sample : {&sums.log_normalizer, &sums.statistics, &sums.gradient})
            std::fill(of_sample->begin(), of_sample->end(), 0.0);
        add_pass(table_, trees, expected, without);
    }

  private:
    static double* pointer(Values& values) { return values.empty() ? nullptr : values.data(); }

    void add_pass(const Table& table, const Trees& trees, const double* expected, const Sums& sums) const {
        const int64_t gates = table.n_rows() * trees.c * trees.m * (sums.observed ? trees.width : 1);
        const int threads = gates >= fewest_gates_ ? threads_ : 1;
        if (in_floats_)
            reticulum::add_pass<float>(table, trees, expected, threads, sums);
        else
            reticulum::add_pass<double>(table, trees, expected, threads, sums);
    }

    const Table& table_;
    const Table& hessian_rows_;
    double rows_per_hessian_row_;
    int threads_;
    int64_t fewest_gates_;
};

// Passes by a function of Python: of hyperplanes (c, m, width), expected parameters (c, leaves, k) and whether
// information is to be made. It returns log normalizers (c), statistics (c, leaves, k), the gradient (c, m, width), and
// observed and complete-data information (c, m, p, p), which may be None if not wanted.
class CallbackPasses : public PassSource {
  public:
    CallbackPasses(nb::object function, int width, int n_statistics, const In<double, 1>& tail)
        : PassSource({width, copied(tail)}, n_statistics, false), function_(function) {
        require(columns_.tail() < width, "the tail is longer than the row");
    }

  protected:
    void add_pass(const Trees& trees, const double* expected, PassSums& sums) override {
        const auto c = static_cast<size_t>(trees.c), m = static_cast<size_t>(trees.m);
        nb::object hyperplanes = copy_to_python(trees.hyperplanes, {c, m, static_cast<size_t>(trees.width)});
        nb::object parameters = copy_to_python(expected, {c, m + 1, static_cast<size_t>(k_)});
        nb::object answer = function_(hyperplanes, parameters, nb::bool_(!sums.observed.empty()));
        require(nb::len(answer) == 5, "a pass returns five arrays");
        copy(answer[0], sums.log_normalizer, "log normalizers of a pass have another size");
        copy(answer[1], sums.statistics, "statistics of a pass have another size");
        copy(answer[2], sums.gradient, "the gradient of a pass has another size");
        pack(answer[3], sums.observed);
        pack(answer[4], sums.complete);
    }

  private:
    static void copy(nb::handle from, Values& to, const char* message) {
        if (!to.empty()) copy_from_python(from, static_cast<int64_t>(to.size()), message, to.data());
    }

    // Copies the upper triangles.
    void pack(nb::handle from, Values& to) const {
        if (to.empty()) return;
        const int64_t n = columns_.packed_width(), matrices = static_cast<int64_t>(to.size()) / columns_.pairs();
        Values whole(matrices * n * n);
        copy_from_python(from, matrices * n * n, "information of a pass has another size", whole.data());
        auto out = to.begin();
        for (auto row = whole.begin(); row != whole.end(); row += n)
            for (int64_t column = ((row - whole.begin()) / n) % n; column < n; ++column) *out++ = row[column];
    }

    nb::object function_;
};

}  // namespace reticulum
