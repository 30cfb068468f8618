// Leaves of a kind: log evidence and expected parameters of their statistics.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "arrays.hpp"
#include "linear.hpp"

namespace reticulum {

// What an ascent needs of a family (`families/protocol.py`), for statistics (leaves, k) row by row.
class Leaves {
  public:
    explicit Leaves(int n_statistics) : k_(n_statistics) {}
    virtual ~Leaves() = default;

    int n_statistics() const { return k_; }
    virtual void expected_parameters(const double* statistics, int64_t leaves, double* out) = 0;
    virtual void log_evidence(const double* statistics, int64_t leaves, double* out) = 0;
    // True if each leaf's statistics could be the sum of some rows.
    virtual bool are_possible(const double* statistics, int64_t leaves) = 0;

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

    void expected_parameters(const double* statistics, int64_t leaves, double* out) override {
        for (int64_t leaf = 0; leaf < leaves; ++leaf, statistics += k_, out += k_) {
            double total = 0.0;
            for (int j = 0; j < k_; ++j) total += prior_[j] + statistics[j];
            const double base = digamma(total);
            for (int j = 0; j < k_; ++j) out[j] = digamma(prior_[j] + statistics[j]) - base;
        }
    }

    void log_evidence(const double* statistics, int64_t leaves, double* out) override {
        for (int64_t leaf = 0; leaf < leaves; ++leaf, statistics += k_) {
            double total = 0.0, log = 0.0;
            for (int j = 0; j < k_; ++j) {
                const double count = prior_[j] + statistics[j];
                total += count;
                log += std::lgamma(count);
            }
            out[leaf] = log - std::lgamma(total) - prior_log_;
        }
    }

    bool are_possible(const double* statistics, int64_t leaves) override {
        return std::all_of(statistics, statistics + leaves * k_, [](double count) { return count >= 0.0; });
    }

  private:
    std::vector<double> prior_;
    double prior_log_ = 0.0;
};

// Leaves of any family, by the methods of the Python object.
class PythonLeaves : public Leaves {
  public:
    PythonLeaves(nb::object family, int n_statistics) : Leaves(n_statistics), family_(family) {}

    void expected_parameters(const double* statistics, int64_t leaves, double* out) override {
        call("expected_parameters", statistics, leaves, out, leaves * k_);
    }

    void log_evidence(const double* statistics, int64_t leaves, double* out) override {
        call("log_evidence", statistics, leaves, out, leaves);
    }

    bool are_possible(const double* statistics, int64_t leaves) override {
        nb::object possible = family_.attr("are_possible")(array(statistics, leaves));
        return nb::cast<bool>(possible.attr("all")().attr("item")());
    }

  private:
    nb::object array(const double* statistics, int64_t leaves) const {
        return copy_to_python(statistics, {static_cast<size_t>(leaves), static_cast<size_t>(k_)});
    }

    void call(const char* method, const double* statistics, int64_t leaves, double* out, int64_t size) {
        copy_from_python(family_.attr(method)(array(statistics, leaves)), size, "a family's answer has another size",
                         out);
    }

    nb::object family_;
};

}  // namespace reticulum
