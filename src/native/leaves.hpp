// Leaves of a kind: log evidence and expected parameters of their statistics, and gains of thresholds between them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "instruction_sets.hpp"
#include "linear.hpp"

namespace reticulum {

// What an ascent needs of a family (`families/protocol.py`), for statistics (leaves, k) row by row.
class Leaves {
  public:
    explicit Leaves(int n_statistics) : k_(n_statistics) {}
    virtual ~Leaves() = default;

    int n_statistics() const { return k_; }
    // Sets expected parameters (leaves, k) and log evidence (leaves), where they are not null.
    virtual void evaluate(const double* statistics, int64_t leaves, double* expected, double* log_evidence) const = 0;
    // True if each leaf's statistics could be the sum of some rows.
    virtual bool are_possible(const double* statistics, int64_t leaves) const = 0;

    // Whether thresholds can be scanned, for targets with codes or without; if so, what each gains, from a histogram
    // (bins, k, size): see Kernels::threshold_gains.
    virtual bool can_scan(bool /* codes */) const { return false; }
    virtual void threshold_gains(const double*, int, int, double*, Scratch&) const {}

  protected:
    const int k_;
};

// Classes with a Dirichlet prior.
class DirichletLeaves : public Leaves {
  public:
    explicit DirichletLeaves(const In<double, 1>& prior)
        : Leaves(static_cast<int>(prior.size())), prior_(copied(prior)) {
        for (double count : prior_) prior_log_ += std::lgamma(count);
        prior_log_ -= std::lgamma(std::accumulate(prior_.begin(), prior_.end(), 0.0));
    }

    void evaluate(const double* statistics, int64_t leaves, double* expected, double* log_evidence) const override {
        for (int64_t leaf = 0; leaf < leaves; ++leaf, statistics += k_) {
            double total = 0.0;
            for (int j = 0; j < k_; ++j) total += prior_[j] + statistics[j];
            if (expected) {
                const double base = digamma(total);
                for (int j = 0; j < k_; ++j) *expected++ = digamma(prior_[j] + statistics[j]) - base;
            }
            if (!log_evidence) continue;
            double log = 0.0;
            for (int j = 0; j < k_; ++j) log += std::lgamma(prior_[j] + statistics[j]);
            log_evidence[leaf] = log - std::lgamma(total) - prior_log_;
        }
    }

    bool are_possible(const double* statistics, int64_t leaves) const override {
        return std::all_of(statistics, statistics + leaves * k_, [](double count) { return count >= 0.0; });
    }

    bool can_scan(bool codes) const override { return codes; }

    void threshold_gains(const double* histogram, int bins, int size, double* out, Scratch& scratch) const override {
        kernels.threshold_gains(histogram, bins, k_, size, prior_.data(), out, scratch);
    }

  private:
    std::vector<double> prior_;
    double prior_log_ = 0.0;
};

// Numbers, constant or linear in the columns, with a normal-inverse-gamma prior.
class NormalLeaves : public Leaves {
  public:
    NormalLeaves(int n_slopes, double scale, double offset_precision, double shape, double rate,
                 In<double, 1> precisions)
        : Leaves((n_slopes + 2) * (n_slopes + 3) / 2),
          precisions_(precisions.data(), precisions.data() + precisions.size()),
          prior_{n_slopes,          static_cast<int>(precisions.size()), offset_precision, shape, rate, std::log(scale),
                 precisions_.data()} {
        require(n_slopes >= 0 && !precisions_.empty(), "leaves need a precision of their slopes");
    }
    NormalLeaves(const NormalLeaves&) = delete;

    void evaluate(const double* statistics, int64_t rows, double* expected, double* log_evidence) const override {
        const int64_t k = k_, count = 2 + prior_.n_slopes;
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
        const int64_t k = k_;
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

    // Scans know constants, and a single slope with a single precision.
    bool can_scan(bool codes) const override {
        return !codes && (prior_.n_slopes == 0 || (prior_.n_slopes == 1 && prior_.n_precisions == 1));
    }

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

// Leaves of any family, by the methods of the Python object.
class PythonLeaves : public Leaves {
  public:
    PythonLeaves(nb::object family, int n_statistics) : Leaves(n_statistics), family_(family) {}

    void evaluate(const double* statistics, int64_t leaves, double* expected, double* log_evidence) const override {
        if (expected) call("expected_parameters", statistics, leaves, expected, leaves * k_);
        if (log_evidence) call("log_evidence", statistics, leaves, log_evidence, leaves);
    }

    bool are_possible(const double* statistics, int64_t leaves) const override {
        nb::object possible = family_.attr("are_possible")(array(statistics, leaves));
        return nb::cast<bool>(possible.attr("all")().attr("item")());
    }

  private:
    nb::object array(const double* statistics, int64_t leaves) const {
        return copy_to_python(statistics, {static_cast<size_t>(leaves), static_cast<size_t>(k_)});
    }

    void call(const char* method, const double* statistics, int64_t leaves, double* out, int64_t size) const {
        copy_from_python(family_.attr(method)(array(statistics, leaves)), size, "a family's answer has another size",
                         out);
    }

    nb::object family_;
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

inline void average_leaf(const NormalLeaves& leaves, In<double, 1> statistics, Out<1> out) {
    require(static_cast<int>(statistics.size()) == leaves.n_statistics() &&
                static_cast<int>(out.size()) == leaves.n_slopes() + 1,
            "statistics have another size");
    leaves.average(statistics.data(), out.data());
}

}  // namespace reticulum
