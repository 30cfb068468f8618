// What leaves make of their statistics: the two built-in families, and any other one by a callback.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "instruction_sets.hpp"
#include "linear.hpp"

namespace reticulum {

// What the leaves make of their statistics (rows, k).
class Leaves {
  public:
    virtual ~Leaves() = default;
    virtual int n_statistics() const = 0;
    // Sets expected parameters (rows, k) and log evidence (rows), where they are not null.
    virtual void evaluate(const double* statistics, int64_t rows, double* expected, double* log_evidence) const = 0;
    virtual bool are_possible(const double* statistics, int64_t rows) const = 0;

    // Whether thresholds can be scanned with these leaves; if so, the gain of each: see Kernels::threshold_gains.
    virtual bool can_scan() const { return false; }
    virtual void threshold_gains(const double*, int, int, double*, Scratch&) const {}
};

// Classes with a Dirichlet prior.
class Dirichlet : public Leaves {
  public:
    explicit Dirichlet(In<double, 1> prior) : prior_(prior.data(), prior.data() + prior.size()) {
        for (double count : prior_) prior_log_ += std::lgamma(count);
        prior_log_ -= std::lgamma(std::accumulate(prior_.begin(), prior_.end(), 0.0));
    }

    int n_statistics() const override { return static_cast<int>(prior_.size()); }

    void evaluate(const double* statistics, int64_t rows, double* expected, double* log_evidence) const override {
        const int64_t k = n_statistics();
        for (int64_t row = 0; row < rows; ++row) {
            const double* counts = statistics + row * k;
            double total = 0.0, log = 0.0;
            for (int64_t j = 0; j < k; ++j) total += prior_[j] + counts[j];
            if (expected) {
                const double base = digamma(total);
                for (int64_t j = 0; j < k; ++j) expected[row * k + j] = digamma(prior_[j] + counts[j]) - base;
            }
            if (!log_evidence) continue;
            for (int64_t j = 0; j < k; ++j) log += std::lgamma(prior_[j] + counts[j]);
            log_evidence[row] = log - std::lgamma(total) - prior_log_;
        }
    }

    bool are_possible(const double* statistics, int64_t rows) const override {
        return std::all_of(statistics, statistics + rows * n_statistics(), [](double count) { return count >= 0.0; });
    }

    bool can_scan() const override { return true; }

    void threshold_gains(const double* histogram, int bins, int size, double* out, Scratch& scratch) const override {
        kernels.threshold_gains(histogram, bins, n_statistics(), size, prior_.data(), out, scratch);
    }

  private:
    std::vector<double> prior_;
    double prior_log_ = 0.0;
};

// Numbers, constant or linear in the columns, with a normal-inverse-gamma prior.
class Normal : public Leaves {
  public:
    Normal(int n_slopes, double scale, double offset_precision, double shape, double rate, In<double, 1> precisions)
        : precisions_(precisions.data(), precisions.data() + precisions.size()),
          prior_{n_slopes, static_cast<int>(precisions.size()), offset_precision, shape, rate, std::log(scale),
                 precisions_.data()} {
        require(n_slopes >= 0 && !precisions_.empty(), "leaves need a precision of their slopes");
    }
    Normal(const Normal&) = delete;

    int n_statistics() const override { return prior_.n_statistics(); }

    void evaluate(const double* statistics, int64_t rows, double* expected, double* log_evidence) const override {
        const int64_t k = n_statistics(), count = 2 + prior_.n_slopes;
        for (int64_t row = 0; row < rows; ++row) {
            const double* sums = statistics + row * k;
            const double shape = prior_.shape + 0.5 * sums[count];
            double* parameters = expected ? expected + row * k : nullptr;
            double* value = log_evidence ? log_evidence + row : nullptr;
            kernels.normal_leaf(prior_, sums, value, parameters, nullptr, scratch_);
            if (value) *value += std::lgamma(shape) - std::lgamma(prior_.shape);
            if (parameters) parameters[count] += 0.5 * digamma(shape);
        }
    }

    // Mean coefficients (1 + slopes) of one leaf.
    void average(const double* statistics, double* out) const {
        kernels.normal_leaf(prior_, statistics, nullptr, nullptr, out, scratch_);
    }

    int n_slopes() const { return prior_.n_slopes; }

    // Sums of squares are not negative in any direction: each factor in units of its root mean square, so that large
    // targets do not hide that others are impossible.
    bool are_possible(const double* statistics, int64_t rows) const override {
        const int width = prior_.n_slopes + 2;
        const int64_t k = n_statistics();
        std::vector<double> gram(static_cast<size_t>(width) * width), root(width);
        for (int64_t row = 0; row < rows; ++row) {
            const double* sums = statistics + row * k;
            if (!std::all_of(sums, sums + k, [](double value) { return std::isfinite(value); })) return false;
            for (int64_t i = 0, at = 0; i < width; at += width - i++) {
                if (sums[at] < 0.0) return false;
                root[i] = sums[at] > 0.0 ? 1.0 / std::sqrt(sums[at]) : 1.0;
            }
            for (int64_t i = 0, at = 0; i < width; ++i)
                for (int64_t j = i; j < width; ++j, ++at)
                    gram[i * width + j] = sums[at] * root[i] * root[j] + (i == j ? kLeastSize : 0.0);
            if (!kernels.cholesky(gram.data(), width)) return false;
        }
        return true;
    }

    // Scans compare a constant with a single slope.
    bool can_scan() const override { return prior_.n_slopes <= 1; }

    void threshold_gains(const double* histogram, int bins, int size, double* out, Scratch& scratch) const override {
        kernels.threshold_gains_of_numbers(histogram, bins, size, prior_, out, scratch);
    }

  private:
    // Least eigenvalue that rounding may leave, below zero.
    static constexpr double kLeastSize = 1e-9;

    std::vector<double> precisions_;
    NormalPrior prior_;
    mutable Scratch scratch_;
};

// Any other family, in Python.
class PythonLeaves : public Leaves {
  public:
    PythonLeaves(nb::object family, int k) : family_(family), k_(k) {}

    int n_statistics() const override { return k_; }

    void evaluate(const double* statistics, int64_t rows, double* expected, double* log_evidence) const override {
        if (expected) call("expected_parameters", statistics, rows, expected, rows * k_);
        if (log_evidence) call("log_evidence", statistics, rows, log_evidence, rows);
    }

    bool are_possible(const double* statistics, int64_t rows) const override {
        nb::object answer = family_.attr("are_possible")(array(statistics, rows));
        return nb::cast<bool>(answer.attr("all")().attr("item")());
    }

  private:
    nb::object array(const double* statistics, int64_t rows) const {
        const size_t shape[2] = {static_cast<size_t>(rows), static_cast<size_t>(k_)};
        return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<2>>(statistics, 2, shape), nb::rv_policy::copy);
    }

    void call(const char* name, const double* statistics, int64_t rows, double* out, int64_t size) const {
        nb::object answer = family_.attr(name)(array(statistics, rows));
        auto values = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(answer);
        require(static_cast<int64_t>(values.size()) == size, "the family's answer has another size");
        std::copy(values.data(), values.data() + size, out);
    }

    nb::object family_;
    int k_;
};

// The bindings for Python: whole arrays of statistics (rows, k).
inline void evaluate_leaves(const Leaves& leaves, In<double, 2> statistics, std::optional<Out<2>> expected,
                            std::optional<Out<1>> log_evidence) {
    const size_t rows = statistics.shape(0);
    require(static_cast<int>(statistics.shape(1)) == leaves.n_statistics(), "statistics have another size");
    require(!expected || (expected->shape(0) == rows && expected->shape(1) == statistics.shape(1)),
            "expected parameters have another size");
    require(!log_evidence || log_evidence->size() == rows, "the log evidence has another size");
    leaves.evaluate(statistics.data(), static_cast<int64_t>(rows), expected ? expected->data() : nullptr,
                    log_evidence ? log_evidence->data() : nullptr);
}

inline void average_leaf(const Normal& leaves, In<double, 1> statistics, Out<1> out) {
    require(static_cast<int>(statistics.size()) == leaves.n_statistics() &&
                static_cast<int>(out.size()) == leaves.n_slopes() + 1,
            "statistics have another size");
    leaves.average(statistics.data(), out.data());
}

}  // namespace reticulum
