// Tables of rows, and sums over them by block and thread.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kernels.hpp"

namespace nb = nanobind;

namespace reticulum {

template <typename T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <int N>
using Out = nb::ndarray<double, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Cells = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// Scratch of one block should stay in a core's second-level cache.
constexpr int64_t kBlockFloats = int64_t{1} << 16;
// Rows, at least, that one thread works on before it adds up what it has. Fixed, so that sums do not depend on threads.
constexpr int64_t kChunkRows = 512;
// The same for histograms, which are large.
constexpr int64_t kHistogramRows = 1024;
// How often a thread looks for what it waits for before it goes to sleep: for about a tenth of a millisecond.
constexpr int kMoments = 200;
// Numbers in the inverses that are kept while gaps are filled.
constexpr int64_t kHeldFloats = int64_t{1} << 18;

// The best that the processor can run or, if the environment names one, that one, should the processor run it.
inline const Kernels& best_kernels() {
#if defined(RETICULUM_X86_LEVELS)
    __builtin_cpu_init();
    const char* named = std::getenv("BAYESIAN_RETICULUM_INSTRUCTIONS");
    const auto wanted = [&](const char* name) { return !named || std::string(named) == name; };
    if (wanted("v4") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return v4_kernels;
    if ((wanted("v3") || wanted("v4")) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return v3_kernels;
#endif
    return baseline_kernels;
}

inline const Kernels& kernels = best_kernels();

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

inline int block_rows(int64_t floats_per_row) {
    const int64_t rows = kBlockFloats / std::max<int64_t>(floats_per_row, 1);
    return static_cast<int>(std::clamp<int64_t>(rows, 64, 1024)) / kPad * kPad;
}

// Codes of columns that stand for no level, as in schema.py.
constexpr int64_t kNumber = -1, kMissing = -2;

template <typename T>
std::vector<T> copied(const In<T, 1>& values) {
    return std::vector<T>(values.data(), values.data() + values.size());
}

// Cells of a table, at the rows of an index; -1 is padding.
template <typename Work>
void with_cells(const Cells& X, Work work) {
    if (X.dtype() == nb::dtype<double>())
        work(static_cast<const double*>(X.data()), X.stride(0), X.stride(1));
    else
        work(static_cast<const float*>(X.data()), X.stride(0), X.stride(1));
}

// Turns cells into the columns that hyperplanes are written for.
struct Units {
    std::vector<double> center, scale, low, high;
    std::vector<int64_t> source, code;

    Units(In<double, 1> center_, In<double, 1> scale_, In<double, 1> low_, In<double, 1> high_, In<int64_t, 1> source_,
          In<int64_t, 1> code_)
        : center(copied(center_)), scale(copied(scale_)), low(copied(low_)), high(copied(high_)),
          source(copied(source_)), code(copied(code_)) {
        for (size_t size : {scale.size(), low.size(), high.size(), source.size(), code.size()})
            require(size == center.size(), "center, scale, low, high, source and code must be equally long");
    }

    // Of a column, as `Schema.variances`.
    double variance(int64_t j) const {
        if (!(low[j] < high[j])) return 0.0;
        return code[j] >= 0 ? center[j] * (1.0 - center[j]) / (scale[j] * scale[j]) : 1.0;
    }

    void require_cells(const Cells& X) const {
        require(X.dtype() == nb::dtype<double>() || X.dtype() == nb::dtype<float>(), "X must be float32 or float64");
        for (int64_t own : source)
            require(own >= 0 && own < static_cast<int64_t>(X.shape(1)), "X and its units differ in their columns");
    }

    // Whether a cell is missing; it is put at its mean.
    bool fill(const Cells& X, const int64_t* index, int n, double* out, int64_t stride) const {
        bool has_gaps = false;
        with_cells(X, [&](const auto* cells, int64_t row_stride, int64_t column_stride) {
            for (int b = 0; b < n; ++b) out[b] = index[b] >= 0 ? 1.0 : 0.0;
            std::vector<double> own(static_cast<size_t>(n));
            for (size_t j = 0; j < center.size(); ++j) {
                double* to = out + static_cast<int64_t>(j + 1) * stride;
                const double level = static_cast<double>(code[j]);
                // All columns of a feature are made of cells that are fetched once.
                if (j == 0 || source[j] != source[j - 1]) {
                    const auto* column = cells + source[j] * column_stride;
                    for (int b = 0; b < n; ++b) {
                        own[b] = index[b] >= 0 ? static_cast<double>(column[index[b] * row_stride]) : 0.0;
                        has_gaps |= own[b] != own[b];
                    }
                }
                // Not times the inverse of the scale, which the smallest numbers have not.
                const auto standard = [&](double value) { return (value - center[j]) / scale[j]; };
                const double yes = standard(1.0), no = standard(0.0);
                if (code[j] == kNumber)
                    for (int b = 0; b < n; ++b) {
                        const double value = standard(std::min(std::max(own[b], low[j]), high[j]));
                        to[b] = own[b] == own[b] ? value : 0.0;
                    }
                else if (code[j] == kMissing)
                    for (int b = 0; b < n; ++b) to[b] = own[b] == own[b] ? no : yes;
                else
                    for (int b = 0; b < n; ++b) {
                        const double value = own[b] == level ? yes : no;
                        to[b] = own[b] == own[b] ? value : 0.0;
                    }
                for (int b = 0; b < n; ++b)
                    if (index[b] < 0) to[b] = 0.0;
            }
        });
        return has_gaps;
    }
};

// What missing cells could have been: as `Gaps` in schema.py.
struct Gaps {
    std::vector<int64_t> sources, group, start, column;  // loadings by compressed rows
    std::vector<double> value;
    std::vector<double> precision;  // (width - 1, width - 1), or none

    Gaps() = default;
    Gaps(In<int64_t, 1> sources_, In<int64_t, 1> group_, In<int64_t, 1> start_, In<int64_t, 1> column_,
         In<double, 1> value_, std::optional<In<double, 2>> precision_)
        : sources(copied(sources_)), group(copied(group_)), start(copied(start_)), column(copied(column_)),
          value(copied(value_)) {
        if (precision_) precision.assign(precision_->data(), precision_->data() + precision_->size());
        require(start.size() == group.size() + 1 && column.size() == value.size() && start.front() == 0 &&
                    start.back() == static_cast<int64_t>(value.size()),
                "loadings do not fit together");
        for (size_t k = 0; k < group.size(); ++k)
            require(group[k] >= 0 && group[k] < size() && start[k] <= start[k + 1], "a loading belongs to no gap");
    }

    int64_t size() const { return static_cast<int64_t>(sources.size()); }

    void require_within(const Cells& X, int width) const {
        for (int64_t own : sources)
            require(own >= 0 && own < static_cast<int64_t>(X.shape(1)), "a gap lies outside of X");
        for (int64_t own : column) require(own >= 0 && own + 1 < width, "a loading lies outside of the columns");
        require(precision.empty() || static_cast<int64_t>(precision.size()) == int64_t{width - 1} * (width - 1),
                "the precision has another size than the columns");
    }

    // The share of variance that each missing cell leaves open, (size, stride); its columns of the design are put at
    // their mean given the rest of the row.
    void fill(const Cells& X, const Units& units, const int64_t* index, int n, double* design, double* out,
              int64_t stride) const {
        with_cells(X, [&](const auto* cells, int64_t row_stride, int64_t column_stride) {
            for (size_t g = 0; g < sources.size(); ++g)
                for (int b = 0; b < n; ++b) {
                    double cell = 0.0;
                    if (index[b] >= 0)
                        cell = static_cast<double>(cells[index[b] * row_stride + sources[g] * column_stride]);
                    out[static_cast<int64_t>(g) * stride + b] = cell != cell ? 1.0 : 0.0;
                }
        });
        if (precision.empty()) return;
        const int64_t width = static_cast<int64_t>(units.center.size());
        std::vector<int64_t> own, gap;
        std::vector<double> factor, mean;
        // Rows often miss the same cells.
        std::map<std::vector<int64_t>, std::vector<double>> inverses;
        int64_t held = 0;
        for (int b = 0; b < n; ++b) {
            own.clear();
            gap.clear();
            for (int64_t g = 0; g < size(); ++g)
                if (out[g * stride + b] != 0.0)
                    for (int64_t j = 0; j < width; ++j)
                        if (units.source[j] == sources[g] && units.code[j] != kMissing) {
                            own.push_back(j);
                            gap.push_back(g);
                        }
            if (own.empty()) continue;
            const int size_own = static_cast<int>(own.size());
            mean.assign(size_own, 0.0);
            for (int i = 0; i < size_own; ++i) {
                const double* row = precision.data() + own[i] * width;
                for (int64_t j = 0; j < width; ++j) mean[i] -= row[j] * design[(j + 1) * stride + b];
            }
            if (held > kHeldFloats) {
                inverses.clear();
                held = 0;
            }
            std::vector<double>& inverse = inverses[own];
            if (inverse.empty()) {
                factor.resize(static_cast<size_t>(size_own) * size_own);
                inverse.assign(factor.size(), 0.0);
                held += static_cast<int64_t>(factor.size());
                for (int i = 0; i < size_own; ++i)
                    for (int j = 0; j < size_own; ++j) factor[i * size_own + j] = precision[own[i] * width + own[j]];
                invert(factor, inverse, size_own);
            }
            for (int i = 0; i < size_own; ++i) {
                double sum = 0.0;
                for (int j = 0; j < size_own; ++j) sum += inverse[i * size_own + j] * mean[j];
                design[(own[i] + 1) * stride + b] = sum;
            }
            for (int i = 0; i < size_own;) {
                double open = 0.0, whole = 0.0;
                const int64_t g = gap[i];
                for (; i < size_own && gap[i] == g; ++i) {
                    open += inverse[i * size_own + i];
                    whole += units.variance(own[i]);
                }
                out[g * stride + b] = whole > 0.0 ? open / whole : 1.0;
            }
        }
    }

    // Inverse of a positive definite matrix, by Cholesky; the matrix is used up.
    static void invert(std::vector<double>& matrix, std::vector<double>& inverse, int n) {
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < j; ++k)
                for (int i = j; i < n; ++i) matrix[i * n + j] -= matrix[i * n + k] * matrix[j * n + k];
            const double root = std::sqrt(matrix[j * n + j]);
            for (int i = j; i < n; ++i) matrix[i * n + j] /= root;
        }
        for (int column = 0; column < n; ++column) {
            double* x = inverse.data() + column * n;
            for (int i = column; i < n; ++i) {
                double sum = i == column ? 1.0 : 0.0;
                for (int k = column; k < i; ++k) sum -= matrix[i * n + k] * x[k];
                x[i] = sum / matrix[i * n + i];
            }
            for (int i = n - 1; i >= 0; --i) {
                double sum = x[i];
                for (int k = i + 1; k < n; ++k) sum -= matrix[k * n + i] * x[k];
                x[i] = sum / matrix[i * n + i];
            }
        }
    }

    double pull(size_t loading, const double* hyperplane) const {
        double sum = 0.0;
        for (int64_t e = start[loading]; e < start[loading + 1]; ++e) sum += value[e] * hyperplane[1 + column[e]];
        return sum;
    }

    // How much activations of hyperplanes (splits, width) vary over each gap, (splits, size).
    std::vector<double> variances(const double* hyperplanes, int64_t splits, int width) const {
        std::vector<double> out(static_cast<size_t>(splits * size()), 0.0);
        for (int64_t split = 0; split < splits; ++split)
            for (size_t k = 0; k < group.size(); ++k) {
                const double own = pull(k, hyperplanes + split * width);
                out[split * size() + group[k]] += own * own;
            }
        return out;
    }

    // Adds what gaps contribute to gradient and information to them: as the end of `_GapSums` in rows.py.
    void finish(const Trees& trees, const Sums& to) const {
        const int width = trees.width, lead = trees.lead, packed = trees.packed();
        const int64_t q = size(), pairs = trees.pairs(), gap_pairs = q * (q + 1) / 2;
        std::vector<double> steps(static_cast<size_t>(q) * width), half(steps.size());
        for (int64_t split = 0; split < int64_t{trees.c} * trees.m; ++split) {
            const double* plane = trees.hyperplanes + split * width;
            const double* alone = to.by_gap + split * q;
            std::fill(steps.begin(), steps.end(), 0.0);
            for (size_t k = 0; k < group.size(); ++k) {
                const double own = pull(k, plane);
                for (int64_t e = start[k]; e < start[k + 1]; ++e)
                    steps[group[k] * width + 1 + column[e]] += own * value[e];
            }
            for (int64_t g = 0; to.gradient && g < q; ++g)
                for (int j = 0; j < width; ++j) to.gradient[split * width + j] -= alone[g] * steps[g * width + j];
            if (!to.observed) continue;
            for (int kind = 0; kind < (to.complete ? 2 : 1); ++kind) {
                const double* mixed = (kind ? to.complete_by_gap : to.observed_by_gap) + split * lead * q;
                const double* together = (kind ? to.complete_by_gaps : to.observed_by_gaps) + split * gap_pairs;
                double* out = (kind ? to.complete : to.observed) + split * pairs;
                for (int64_t g = 0; g < q; ++g)
                    for (int j = 0; j < lead; ++j) half[g * width + j] = mixed[int64_t{j} * q + g];
                for (int64_t g = 0, at = 0; g < q; ++g)
                    for (int64_t h = g; h < q; ++h, ++at) {
                        for (int j = 0; j < lead; ++j) {
                            half[g * width + j] += 0.5 * together[at] * steps[h * width + j];
                            if (h != g) half[h * width + j] += 0.5 * together[at] * steps[g * width + j];
                        }
                    }
                for (int64_t g = 0; g < q; ++g) {
                    const double* a = half.data() + g * width;
                    const double* b = steps.data() + g * width;
                    double* at = out;
                    for (int i = 0; i < lead; ++i, at += packed - lead)
                        for (int j = i; j < lead; ++j) *at++ += a[i] * b[j] + b[i] * a[j];
                }
            }
            for (size_t k = 0; k < group.size(); ++k)
                for (int64_t e = start[k]; e < start[k + 1]; ++e)
                    for (int64_t f = start[k]; f < start[k + 1]; ++f) {
                        const int64_t i = 1 + column[e], j = 1 + column[f];
                        if (i <= j && j < lead)
                            to.observed[split * pairs + i * packed - i * (i - 1) / 2 + j - i] +=
                                alone[group[k]] * value[e] * value[f];
                    }
        }
    }
};

// Waits for a moment, then for longer: what comes at once is seen sooner than a sleeping thread can be woken.
template <typename Condition>
bool comes_at_once(Condition condition) {
    for (int turn = 0; turn < kMoments; ++turn) {
        if (condition()) return true;
        // Where threads are more than cores, the one that is waited for may need this one's.
        std::this_thread::yield();
    }
    return condition();
}

// Threads that help another one with one piece of work after another: to start them, and to fill their memory with zeros,
// takes as long as a pass over few rows.
class Crew {
  public:
    Crew() = default;
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    ~Crew() {
        for (auto& helper : helpers_) {
            if (is_here()) {
                call(*helper, nullptr);
                helper->thread.join();
            } else {
                // When a process was forked, its threads stayed behind: there is nothing to wait for.
                helper.release();
            }
        }
    }

    // That of this thread.
    static Crew& own() {
        thread_local std::optional<Crew> crew;
        if (!crew || !crew->is_here()) crew.emplace();
        return *crew;
    }

    // Calls `work`, which must not throw, in so many threads, this one among them, and returns when all have.
    void run(int threads, const std::function<void()>& work) {
        gather(threads - 1);
        const int called = std::min(threads - 1, static_cast<int>(helpers_.size()));
        busy_.store(called, std::memory_order_relaxed);
        for (int helper = 0; helper < called; ++helper) call(*helpers_[helper], &work);
        work();
        const auto are_done = [&] { return busy_.load(std::memory_order_acquire) == 0; };
        if (comes_at_once(are_done)) return;
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, are_done);
    }

  private:
    struct Helper {
        std::mutex mutex;
        std::condition_variable called;
        std::atomic<uint64_t> calls{0};
        const std::function<void()>* work = nullptr;
        std::thread thread;
    };

    bool is_here() const { return process_ == getpid(); }

    void gather(int wanted) {
        try {
            helpers_.reserve(static_cast<size_t>(std::max(wanted, 0)));
            while (static_cast<int>(helpers_.size()) < wanted) {
                auto helper = std::make_unique<Helper>();
                helper->thread = std::thread([this, own = helper.get()] { help(*own); });
                helpers_.push_back(std::move(helper));
            }
        } catch (...) {
            // No more threads to be had: those that started, and this one, do the work.
        }
    }

    static void call(Helper& helper, const std::function<void()>* work) {
        {
            std::lock_guard<std::mutex> lock(helper.mutex);
            helper.work = work;
            helper.calls.fetch_add(1, std::memory_order_release);
        }
        helper.called.notify_one();
    }

    void help(Helper& own) {
        for (uint64_t seen = 0;; ++seen) {
            const auto is_called = [&] { return own.calls.load(std::memory_order_acquire) != seen; };
            if (!comes_at_once(is_called)) {
                std::unique_lock<std::mutex> lock(own.mutex);
                own.called.wait(lock, is_called);
            }
            if (!own.work) return;
            (*own.work)();
            if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                std::lock_guard<std::mutex> lock(mutex_);
                done_.notify_one();
            }
        }
    }

    const pid_t process_ = getpid();
    std::vector<std::unique_ptr<Helper>> helpers_;
    std::mutex mutex_;
    std::condition_variable done_;
    std::atomic<int> busy_{0};
};

// Works through chunks in so many threads; `add` is called for one chunk at a time, in order.
template <typename Worker>
void in_order(int64_t chunks, int threads, Worker make_worker) {
    threads = static_cast<int>(std::min<int64_t>(threads, chunks));
    if (threads <= 1) {
        auto worker = make_worker();
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
            worker.work(chunk);
            worker.add(chunk);
        }
        return;
    }
    std::mutex mutex;
    std::condition_variable turn;
    std::atomic<int64_t> taken{0}, added{0};
    std::atomic<bool> has_failed{false};
    std::exception_ptr failure;
    Crew::own().run(threads, [&] {
        try {
            int64_t chunk = taken.fetch_add(1, std::memory_order_relaxed);
            if (chunk >= chunks) return;
            auto worker = make_worker();
            for (; chunk < chunks && !has_failed; chunk = taken.fetch_add(1, std::memory_order_relaxed)) {
                worker.work(chunk);
                const auto is_next = [&] { return added.load(std::memory_order_acquire) == chunk || has_failed; };
                if (!comes_at_once(is_next)) {
                    std::unique_lock<std::mutex> lock(mutex);
                    turn.wait(lock, is_next);
                }
                if (has_failed) return;
                worker.add(chunk);
                {
                    std::lock_guard<std::mutex> lock(mutex);
                    added.store(chunk + 1, std::memory_order_release);
                }
                turn.notify_all();
            }
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex);
            if (!failure) failure = std::current_exception();
            has_failed = true;
            turn.notify_all();
        }
    });
    if (failure) std::rethrow_exception(failure);
}

// Calls what `make_work` makes, once for each thread, with each number below `count`, in so many threads.
template <typename Work>
void one_by_one(int64_t count, int threads, Work make_work) {
    struct Worker {
        decltype(make_work()) work;
        void add(int64_t) {}
    };
    in_order(count, threads, [&] { return Worker{make_work()}; });
}

// Memory of a thread that is kept: pages that are handed back at once have to be filled with zeros again.
template <int>
std::vector<double>& spare() {
    thread_local std::vector<double> floats;
    return floats;
}

struct Part {
    int64_t start;
    int n, code;
    bool has_gaps;
};

// Blocks of at most `rows` rows, and the first block of each chunk.
struct Plan {
    std::vector<Part> parts;
    std::vector<size_t> chunks;
};

inline void require_tree(int m, const int64_t* children) {
    for (int split = 0; split < m; ++split)
        for (int side = 0; side < 2; ++side) {
            const int64_t child = children[2 * split + side];
            require(child >= 0 ? child > split && child < m : ~child <= m, "children do not form a tree");
        }
}

// Values at which the cumulated weight first reaches shares of the whole; `values` and `weights` belong together.
inline void weighted_quantiles(const std::vector<double>& values, const std::vector<double>& weights,
                               const double* probabilities, int n_probabilities, double* out) {
    const size_t n = values.size();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double start = *low, spread = *high - *low;
    // Rows are counted into bins first; only those in the bin of a quantile have to be sorted.
    const int bins = static_cast<int>(std::clamp<size_t>(n / 4, 1, 4096));
    // Values too near to or too far from each other for such bins, or all the same, are left to the sort.
    const double per_unit = std::isfinite(bins / spread) ? bins / spread : 0.0;
    std::vector<double> weight(bins + 1, 0.0);
    std::vector<int> bin(n);
    for (size_t i = 0; i < n; ++i) {
        bin[i] = per_unit > 0.0 ? std::min(bins - 1, static_cast<int>((values[i] - start) * per_unit)) : 0;
        weight[bin[i] + 1] += weights[i];
    }
    for (int b = 0; b < bins; ++b) weight[b + 1] += weight[b];
    // The bin of a quantile, in which there is a row: the first bin, or one that has weight.
    std::vector<int> wanted(n_probabilities), place(bins, -1);
    std::vector<std::vector<std::pair<double, double>>> found;
    // A hair below the target, so that rounding of the sum cannot move a quantile to the next row.
    const auto target = [&](int p) { return probabilities[p] * weight[bins] * (1 - 1e-12); };
    for (int p = 0; p < n_probabilities; ++p) {
        const auto reached = std::lower_bound(weight.begin() + 1, weight.end(), target(p));
        wanted[p] = std::min(static_cast<int>(reached - weight.begin()) - 1, bins - 1);
        if (place[wanted[p]] >= 0) continue;
        place[wanted[p]] = static_cast<int>(found.size());
        found.emplace_back();
    }
    for (size_t i = 0; i < n; ++i)
        if (place[bin[i]] >= 0) found[place[bin[i]]].emplace_back(values[i], weights[i]);
    for (auto& rows : found) std::sort(rows.begin(), rows.end());
    for (int p = 0; p < n_probabilities; ++p) {
        const auto& rows = found[place[wanted[p]]];
        double reached = weight[wanted[p]];
        size_t at = 0;
        for (; at + 1 < rows.size(); ++at) {
            reached += rows[at].second;
            if (reached >= target(p)) break;
        }
        out[p] = rows[at].first;
    }
}

// Rounds parameters by code (c, leaves, k) so that floats hold the likelihoods that a pass makes of them, and the
// largest of their logs. Rounding on the way would err alike for all rows of a code, by more than steps gain in the end.
inline void round_to_floats(double* parameters, int c, int leaves, int k) {
    for (int tree = 0; tree < c; ++tree)
        for (int code = 0; code < k; ++code) {
            double* own = parameters + int64_t{tree} * leaves * k + code;
            double largest = own[0];
            for (int leaf = 1; leaf < leaves; ++leaf) largest = std::max(largest, own[int64_t{leaf} * k]);
            const double top = static_cast<float>(largest);
            for (int leaf = 0; leaf < leaves; ++leaf) {
                double& log = own[int64_t{leaf} * k];
                const float likelihood = log == largest ? 1.0f : static_cast<float>(std::exp(log - top));
                // What floats cannot hold will be 0.
                if (likelihood >= std::numeric_limits<float>::min())
                    log = top + std::log(static_cast<double>(std::min(likelihood, 1.0f)));
            }
        }
}

class Table {
  public:
    // Columns that are kept are those of the `whole` table at these `places`, -1 for padding, if there is one.
    Table(Cells X, In<int64_t, 1> index, In<int64_t, 1> segments, In<int64_t, 1> gap_starts, In<int32_t, 1> codes, int k,
          std::optional<In<double, 2>> statistics, In<double, 1> weights, In<double, 1> mass,
          std::optional<In<double, 1>> log_reach, std::optional<In<double, 1>> log_other, const Units& units,
          const Gaps& gaps, In<double, 1> tail, bool keep, const Table* whole, std::optional<In<int64_t, 1>> places)
        : X_(X), index_(index), segments_(segments), gap_starts_(gap_starts), codes_(codes), k_(k),
          statistics_(statistics), weights_(weights), mass_(mass), log_reach_(log_reach), log_other_(log_other),
          units_(units), gaps_(gaps), n_(static_cast<int64_t>(index.size())),
          width_(static_cast<int>(units.center.size()) + 1), tail_(copied(tail)) {
        require(static_cast<int>(tail_.size()) < width_, "the tail is longer than the row");
        units_.require_cells(X);
        gaps_.require_within(X, width_);
        require(gap_starts.size() == codes.size(), "each segment needs a place where gaps start");
        require(n_ % kPad == 0, "rows must be padded");
        require(segments.size() == codes.size() + 1, "each segment needs a code");
        require(static_cast<int64_t>(weights.size()) == n_ && static_cast<int64_t>(mass.size()) == n_,
                "each row needs a weight");
        require(log_reach.has_value() == log_other.has_value(), "log_reach and log_other belong together");
        if (log_reach)
            require(static_cast<int64_t>(log_reach->size()) == n_ && static_cast<int64_t>(log_other->size()) == n_,
                    "each row needs a reach");
        if (statistics)
            require(static_cast<int>(statistics->shape(0)) == k && static_cast<int64_t>(statistics->shape(1)) == n_,
                    "each row needs statistics");
        const int64_t cells = static_cast<int64_t>(X.shape(0));
        for (int64_t b = 0; b < n_; ++b)
            require(index.data()[b] >= -1 && index.data()[b] < cells, "a row lies outside of X");
        int64_t before = 0;
        for (size_t s = 0; s < codes.size(); ++s) {
            const int64_t stop = segments.data()[s + 1];
            require(segments.data()[s] == before && stop >= before && stop % kPad == 0 && stop <= n_,
                    "segments must follow one another");
            require(statistics || (codes.data()[s] >= 0 && codes.data()[s] < k), "a code is out of range");
            before = stop;
        }
        require(segments.data()[0] == 0 && before == n_, "segments must hold all rows");
        if (!keep) return;
        const int64_t columns = width_ + gaps_.size();
        kept_.resize(static_cast<size_t>(n_ * columns) + kLine / sizeof(double));
        double* design = aligned(kept_.data());
        if (whole) {
            require(places && static_cast<int64_t>(places->size()) == n_, "each row needs a place in the whole table");
            require(whole->width_ + whole->gaps_.size() == columns && !whole->kept_.empty(), "the whole table is another");
            for (int64_t b = 0; b < n_; ++b)
                require(places->data()[b] >= -1 && places->data()[b] < whole->n_, "a row lies outside of the whole table");
            const double* from = aligned(whole->kept_.data());
            for (int64_t column = 0; column < columns; ++column, from += whole->n_, design += n_)
                for (int64_t b = 0; b < n_; ++b) design[b] = places->data()[b] < 0 ? 0.0 : from[places->data()[b]];
        } else {
            units_.fill(X_, index_.data(), static_cast<int>(n_), design, n_);
            gaps_.fill(X_, units_, index_.data(), static_cast<int>(n_), design, design + n_ * width_, n_);
        }
    }

    void pass(In<double, 3> hyperplanes, In<int64_t, 2> children, In<double, 3> parameters, int threads,
              Out<1> log_normalizer, Out<3> statistics, Out<3> gradient, std::optional<Out<3>> observed,
              std::optional<Out<3>> complete, bool in_floats) const {
        const Trees trees = trees_of(hyperplanes, children);
        require_parameters(trees, parameters);
        const int64_t splits = int64_t{trees.c} * trees.m, leaves = int64_t{trees.c} * trees.leaves();
        const int64_t pairs = trees.pairs();
        const bool information = observed.has_value() && complete.has_value();
        require(static_cast<int64_t>(log_normalizer.size()) == trees.c, "log_normalizer has another size");
        require(static_cast<int64_t>(statistics.size()) == leaves * k_, "statistics have another size");
        require(static_cast<int64_t>(gradient.size()) == splits * width_, "the gradient has another size");
        if (information)
            require(static_cast<int64_t>(observed->size()) == splits * pairs &&
                        static_cast<int64_t>(complete->size()) == splits * pairs,
                    "the information has another size");
        nb::gil_scoped_release release;
        require(!in_floats || !statistics_, "only targets with codes are passed over in floats");
        const Sums sums = {log_normalizer.data(), statistics.data(), gradient.data(),
                           information ? observed->data() : nullptr, information ? complete->data() : nullptr};
        if (in_floats)
            add_pass<float>(trees, parameters.data(), threads, sums);
        else
            add_pass<double>(trees, parameters.data(), threads, sums);
    }

    // In doubles or in floats.
    template <typename Real>
    void add_pass(const Trees& given, const double* parameters, int threads, const Sums& to) const {
        const Softened softened(*this, given);
        const Likelihoods likelihoods(*this, given, parameters);
        const Told<Real> told(softened.trees, likelihoods.beliefs);
        const TreesOf<Real>& trees = told.trees;
        const int64_t splits = int64_t{trees.c} * trees.m, leaves = int64_t{trees.c} * trees.leaves();
        const int64_t pairs = trees.pairs();
        const bool information = to.observed != nullptr, complete = to.complete != nullptr;
        const int64_t kinds = information + complete;
        const int64_t q = gaps_.size(), mixed = q * trees.lead, gap_pairs = q * (q + 1) / 2;
        std::vector<double> by_gap(static_cast<size_t>(splits * q)),
            by_gaps(static_cast<size_t>(information ? 2 * splits * (mixed + gap_pairs) : 0));
        Sums all = to;
        all.by_gap = by_gap.data();
        all.observed_by_gap = by_gaps.data();
        all.complete_by_gap = all.observed_by_gap + splits * mixed;
        all.observed_by_gaps = all.complete_by_gap + splits * mixed;
        all.complete_by_gaps = all.observed_by_gaps + splits * gap_pairs;
        const std::vector<std::pair<double*, int64_t>> totals = {
            {to.log_normalizer, trees.c},
            {to.statistics, leaves * k_},
            {to.gradient, to.gradient ? splits * width_ : 0},
            {to.observed, information ? splits * pairs : 0},
            {to.complete, complete ? splits * pairs : 0},
            {all.by_gap, splits * q},
            {all.observed_by_gap, information ? splits * mixed : 0},
            {all.complete_by_gap, complete ? splits * mixed : 0},
            {all.observed_by_gaps, information ? splits * gap_pairs : 0},
            {all.complete_by_gaps, complete ? splits * gap_pairs : 0},
        };
        const int64_t softs = q ? splits * (3 + 2 * kinds) : 0;
        const int64_t floats = width_ + q + (statistics_ ? k_ + leaves : 0) + splits * (1 + kinds) +
                               3 * int64_t{trees.leaves()} + softs;
        const int rows = block_rows((floats * sizeof(Real) + sizeof(double) - 1) / sizeof(double));
        run<Real>(rows, threads, totals, [&](const BlockOf<Real>& block, int64_t, double* const* sums, auto& scratch) {
            const Sums own = {sums[0], sums[1], to.gradient ? sums[2] : nullptr, information ? sums[3] : nullptr,
                              complete ? sums[4] : nullptr, sums[5], sums[6], sums[7], sums[8], sums[9]};
            if constexpr (std::is_same_v<Real, double>)
                kernels.pass(trees, told.beliefs, block, own, scratch);
            else
                kernels.pass_of_floats(trees, told.beliefs, block, own, scratch);
        });
        if (q) gaps_.finish(softened.trees, all);
    }

    void membership_sums(In<double, 3> hyperplanes, In<int64_t, 2> children, int threads, Out<3> out) const {
        const Softened softened(*this, trees_of(hyperplanes, children));
        const Trees& trees = softened.trees;
        const int64_t size = int64_t{trees.c} * trees.leaves() * k_;
        require(static_cast<int64_t>(out.size()) == size, "out has another size");
        nb::gil_scoped_release release;
        const int64_t floats = width_ + (statistics_ ? k_ : 0) + int64_t{trees.c} * trees.m + 3 * trees.leaves();
        run<double>(block_rows(floats), threads, {{out.data(), size}},
            [&](const Block& block, int64_t start, double* const* sums, auto& scratch) {
                kernels.membership_sums(trees, k_, block, mass_.data() + start, sums[0], scratch);
            });
    }

    // Adds to second (pairs of columns) and cross (k, width) as Kernels::moments tells, for targets with codes.
    void moments(int threads, Out<1> second, Out<2> cross) const {
        const int64_t pairs = int64_t{width_} * (width_ + 1) / 2, size = int64_t{k_} * width_;
        require(!statistics_, "only targets with codes have such moments");
        require(static_cast<int64_t>(second.size()) == pairs, "second has another size");
        require(static_cast<int64_t>(cross.size()) == size, "cross has another size");
        nb::gil_scoped_release release;
        run<double>(block_rows(width_), threads, {{second.data(), pairs}, {cross.data(), size}},
            [&](const Block& block, int64_t start, double* const* sums, auto&) {
                kernels.moments(block, width_, mass_.data() + start, sums[0], sums[1]);
            });
    }

    // For each wanted leaf, the rows of which it holds more than a share, as a list of arrays: places in the table, log
    // membership, and the log joint of all other leaves.
    nb::list leaf_views(In<double, 3> hyperplanes, In<int64_t, 2> children, In<double, 3> parameters,
                        In<int64_t, 1> wanted, double log_share, int threads) const {
        const Softened softened(*this, trees_of(hyperplanes, children));
        const Trees& trees = softened.trees;
        require_parameters(trees, parameters);
        const Likelihoods likelihoods(*this, trees, parameters.data());
        const int leaves = trees.leaves();
        require(trees.c == 1, "views are those of one tree");
        for (size_t v = 0; v < wanted.size(); ++v)
            require(wanted.data()[v] >= 0 && wanted.data()[v] < leaves, "there is no such leaf");
        std::vector<View> views(wanted.size());
        {
            nb::gil_scoped_release release;
            const Plan plan = this->plan(block_rows(width_ + (statistics_ ? k_ : 0) + 5 * leaves));
            struct Worker {
                const Table& table;
                const Plan& plan;
                const Trees& trees;
                const Beliefs& beliefs;
                double log_share;
                const int64_t* wanted;
                std::vector<View>& views;
                std::vector<View> own;
                std::vector<double> scratch, tile, out;

                void work(int64_t chunk) {
                    own.assign(views.size(), View());
                    const int count = static_cast<int>(own.size());
                    for (size_t part = plan.chunks[chunk]; part < plan.chunks[chunk + 1]; ++part) {
                        const Block block = table.block(plan.parts[part], tile);
                        const int64_t n = block.n, start = plan.parts[part].start;
                        out.resize(static_cast<size_t>(3 * count * n));
                        kernels.leaf_views(trees, beliefs, block, wanted, count, out.data(), scratch);
                        for (int v = 0; v < count; ++v) {
                            const double* reach = out.data() + v * n;
                            const double* share = reach + count * n;
                            const double* other = share + count * n;
                            for (int64_t b = 0; b < n; ++b) {
                                if (table.index_.data()[start + b] < 0 || !(share[b] > log_share)) continue;
                                own[v].place.push_back(start + b);
                                own[v].reach.push_back(reach[b]);
                                own[v].other.push_back(other[b]);
                            }
                        }
                    }
                }

                void add(int64_t) {
                    for (size_t v = 0; v < views.size(); ++v) {
                        views[v].place.insert(views[v].place.end(), own[v].place.begin(), own[v].place.end());
                        views[v].reach.insert(views[v].reach.end(), own[v].reach.begin(), own[v].reach.end());
                        views[v].other.insert(views[v].other.end(), own[v].other.begin(), own[v].other.end());
                    }
                }
            };
            in_order(static_cast<int64_t>(plan.chunks.size()) - 1, threads, [&] {
                return Worker{*this, plan, trees, likelihoods.beliefs, log_share, wanted.data(), views, {}, {}, {}, {}};
            });
        }
        nb::list out;
        for (View& view : views)
            out.append(nb::make_tuple(array(view.place), array(view.reach), array(view.other)));
        return out;
    }

    // Adds to out (m) and statistics (leaves, k) of one tree, as Kernels::likelihoods_below tells.
    void likelihoods_below(In<double, 3> hyperplanes, In<int64_t, 2> children, In<double, 3> parameters, int threads,
                           Out<1> out, Out<2> statistics) const {
        const Softened softened(*this, trees_of(hyperplanes, children));
        const Trees& trees = softened.trees;
        require_parameters(trees, parameters);
        const Likelihoods likelihoods(*this, trees, parameters.data());
        const int64_t size = int64_t{trees.leaves()} * k_;
        require(trees.c == 1 && static_cast<int>(out.size()) == trees.m, "out has another size");
        require(static_cast<int64_t>(statistics.size()) == size, "statistics have another size");
        nb::gil_scoped_release release;
        run<double>(block_rows(width_ + (statistics_ ? k_ : 0) + 5 * trees.leaves()), threads,
            {{out.data(), trees.m}, {statistics.data(), size}},
            [&](const Block& block, int64_t, double* const* sums, auto& scratch) {
                kernels.likelihoods_below(trees, likelihoods.beliefs, block, sums[0], sums[1], scratch);
            });
    }

    // Adds to out (directions, bins, k or 1, padded groups) as Kernels::histogram tells.
    void histogram(In<double, 2> directions, In<double, 2> edges, In<double, 2> cuts, int threads, Out<4> out) const {
        add_histogram(directions, edges, cuts, threads, out.data(), static_cast<int64_t>(out.size()));
    }

    void add_histogram(In<double, 2> directions, In<double, 2> edges, In<double, 2> cuts, int threads, double* out,
                       int64_t out_size) const {
        const Grid grid = {static_cast<int>(directions.shape(0)), static_cast<int>(edges.shape(1)),
                           static_cast<int>(cuts.shape(0)), width_, directions.data(), edges.data(), cuts.data()};
        require(static_cast<int>(directions.shape(1)) == width_ && static_cast<int>(cuts.shape(1)) == width_,
                "directions and cuts need one slope for each column");
        require(edges.shape(0) == directions.shape(0), "each direction needs edges");
        const int groups = (1 + grid.cuts) * (statistics_ ? k_ : 1);
        const int64_t size = int64_t{grid.directions} * (grid.edges + 1) * (statistics_ ? 1 : k_) *
                             ((groups + kGroupPad - 1) / kGroupPad * kGroupPad);
        require(out_size == size, "out has another size");
        nb::gil_scoped_release release;
        run<double>(block_rows(width_ + grid.directions + grid.cuts), threads, {{out, size}},
            [&](const Block& block, int64_t start, double* const* sums, auto& scratch) {
                kernels.histogram(grid, block, k_, mass_.data() + start, sums[0], scratch);
            },
            kHistogramRows);
    }

    // Evidence gained by each edge on each side of cuts, (cuts, 2, directions, edges), for classes with a prior.
    void scan(In<double, 2> directions, In<double, 2> edges, In<double, 2> cuts, In<double, 1> prior, int threads,
              Out<4> out) const {
        const int D = static_cast<int>(directions.shape(0)), E = static_cast<int>(edges.shape(1));
        const int n_cuts = static_cast<int>(cuts.shape(0));
        require(!statistics_ && static_cast<int>(prior.size()) == k_, "each class needs a prior");
        require(static_cast<int64_t>(out.size()) == int64_t{n_cuts} * 2 * D * E && E > 0, "out has another size");
        const int size = (1 + n_cuts + kGroupPad - 1) / kGroupPad * kGroupPad;
        const int64_t cells = int64_t{E + 1} * k_ * size;
        std::vector<double>& counts = spare<2>();
        counts.assign(static_cast<size_t>(D * cells), 0.0);
        add_histogram(directions, edges, cuts, threads, counts.data(), static_cast<int64_t>(counts.size()));
        nb::gil_scoped_release release;
        one_by_one(D, threads, [&] {
            return [&, gains = std::vector<double>(static_cast<size_t>(size) * 2 * E),
                    scratch = std::vector<double>()](int64_t d) mutable {
                const double* own = counts.data() + d * cells;
                kernels.threshold_gains(own, E + 1, k_, size, prior.data(), gains.data(), scratch);
                for (int cut = 0; cut < n_cuts; ++cut)
                    for (int side = 0; side < 2; ++side)
                        std::copy_n(gains.data() + (int64_t{1 + cut} * 2 + side) * E, E,
                                    out.data() + ((int64_t{cut} * 2 + side) * D + d) * E);
            };
        });
    }

    // Weighted quantiles of the rows along directions, (directions, probabilities), as `schema.weighted_quantiles`.
    void quantiles(In<double, 2> directions, In<double, 1> probabilities, int threads, Out<2> out) const {
        const int D = static_cast<int>(directions.shape(0)), P = static_cast<int>(probabilities.size());
        require(static_cast<int>(directions.shape(1)) == width_, "directions need one slope for each column");
        require(static_cast<int>(out.shape(0)) == D && static_cast<int>(out.shape(1)) == P, "out has another size");
        require(std::any_of(index_.data(), index_.data() + n_, [](int64_t row) { return row >= 0; }),
                "no rows have no quantiles");
        nb::gil_scoped_release release;
        // Not set to zero, nor kept: of many rows they are many.
        const std::unique_ptr<double[]> values(new double[static_cast<size_t>(D) * n_]);
        std::vector<double> weights;
        const Plan plan = this->plan(block_rows(width_ + D));
        one_by_one(static_cast<int64_t>(plan.parts.size()), threads, [&] {
            return [&, tile = std::vector<double>()](int64_t part) mutable {
                const Block rows = block(plan.parts[part], tile);
                kernels.project(directions.data(), D, width_, rows, values.get() + plan.parts[part].start, n_);
            };
        });
        for (int64_t b = 0; b < n_; ++b)
            if (index_.data()[b] >= 0) weights.push_back(mass_.data()[b]);
        one_by_one(D, threads, [&] {
            return [&, own = std::vector<double>()](int64_t d) mutable {
                own.clear();
                for (int64_t b = 0; b < n_; ++b)
                    if (index_.data()[b] >= 0) own.push_back(values[d * n_ + b]);
                weighted_quantiles(own, weights, probabilities.data(), P, out.data() + d * P);
            };
        });
    }

    int width() const { return width_; }
    int lead() const { return width_ - static_cast<int>(tail_.size()); }
    const std::vector<double>& tail() const { return tail_; }
    int n_statistics() const { return k_; }
    bool has_codes() const { return !statistics_; }
    int64_t n_rows() const { return n_; }

  private:
    struct View {
        std::vector<int64_t> place;
        std::vector<double> reach, other;
    };

    // A NumPy array that owns the numbers.
    template <typename T>
    static nb::ndarray<nb::numpy, T, nb::ndim<1>> array(std::vector<T>& values) {
        auto* kept = new std::vector<T>(std::move(values));
        nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
        const size_t shape[1] = {kept->size()};
        return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), 1, shape, owner);
    }

    // Trees that know how much their activations vary over what is missing.
    struct Softened {
        std::vector<double> variance;
        Trees trees;

        Softened(const Table& table, const Trees& given) : trees(given) {
            variance = table.gaps_.variances(given.hyperplanes, int64_t{given.c} * given.m, given.width);
            trees.lead = table.lead();
            trees.gaps = static_cast<int>(table.gaps_.size());
            trees.variance = variance.data();
        }
        Softened(const Softened&) = delete;
    };

    // Likelihoods by code, in the order in which blocks need them.
    struct Likelihoods {
        Beliefs beliefs;
        std::vector<double> likelihood, offset, log_likelihood;

        Likelihoods(const Table& table, const Trees& trees, const double* parameters) {
            const int c = trees.c, leaves = trees.leaves(), k = table.k_;
            const bool by_code = !table.statistics_;
            if (by_code) {
                likelihood.resize(static_cast<size_t>(k) * c * leaves);
                log_likelihood.resize(likelihood.size());
                offset.resize(static_cast<size_t>(k) * c);
                for (int code = 0; code < k; ++code)
                    for (int tree = 0; tree < c; ++tree) {
                        const double* own = parameters + int64_t{tree} * leaves * k + code;
                        double top = -std::numeric_limits<double>::infinity();
                        for (int leaf = 0; leaf < leaves; ++leaf) top = std::max(top, own[int64_t{leaf} * k]);
                        const int64_t at = int64_t{code} * c + tree;
                        offset[at] = top;
                        for (int leaf = 0; leaf < leaves; ++leaf) {
                            log_likelihood[at * leaves + leaf] = own[int64_t{leaf} * k];
                            likelihood[at * leaves + leaf] = std::exp(own[int64_t{leaf} * k] - top);
                        }
                    }
            }
            beliefs = {k, by_code, likelihood.data(), offset.data(), log_likelihood.data(), parameters};
        }
    };

    // Trees and beliefs as a pass wants them.
    template <typename Real>
    struct Told {
        std::vector<Real> hyperplanes, variance, likelihood, offset, log_likelihood, parameters;
        TreesOf<Real> trees;
        BeliefsOf<Real> beliefs;

        Told(const Trees& from, const Beliefs& by) {
            const int64_t splits = int64_t{from.c} * from.m, leaves = int64_t{from.c} * from.leaves();
            const int64_t coded = by.by_code ? by.k : 0;
            trees = {from.c, from.m, from.width, told(from.hyperplanes, splits * from.width, hyperplanes),
                     from.children, from.gaps, told(from.variance, splits * from.gaps, variance), from.lead};
            beliefs = {by.k, by.by_code, told(by.likelihood, coded * leaves, likelihood),
                       told(by.offset, coded * from.c, offset),
                       told(by.log_likelihood, coded * leaves, log_likelihood),
                       told(by.parameters, by.by_code ? 0 : leaves * by.k, parameters)};
        }
        Told(const Told&) = delete;

        static const Real* told(const double* values, int64_t size, std::vector<Real>& own) {
            if constexpr (std::is_same_v<Real, double>) return values;
            own.assign(values, values + size);
            return own.data();
        }
    };

    void require_parameters(const Trees& trees, const In<double, 3>& parameters) const {
        require(static_cast<int>(parameters.shape(0)) == trees.c &&
                    static_cast<int>(parameters.shape(1)) == trees.leaves() &&
                    static_cast<int>(parameters.shape(2)) == k_,
                "parameters have another shape");
    }

    Trees trees_of(const In<double, 3>& hyperplanes, const In<int64_t, 2>& children) const {
        Trees trees = {static_cast<int>(hyperplanes.shape(0)), static_cast<int>(hyperplanes.shape(1)),
                       static_cast<int>(hyperplanes.shape(2)), hyperplanes.data(), children.data()};
        trees.lead = lead();
        require(trees.width == width_, "hyperplanes need one slope for each column");
        require(static_cast<int>(children.shape(0)) == trees.m && children.shape(1) == 2, "each split has two children");
        require_tree(trees.m, children.data());
        return trees;
    }

    Plan plan(int rows, int64_t chunk_rows = kChunkRows) const {
        Plan plan;
        int64_t in_chunk = chunk_rows;
        for (size_t s = 0; s < codes_.size(); ++s) {
            const int64_t stop = segments_.data()[s + 1];
            for (int64_t start = segments_.data()[s]; start < stop; start += rows) {
                if (in_chunk >= chunk_rows) {
                    plan.chunks.push_back(plan.parts.size());
                    in_chunk = 0;
                }
                const int n = static_cast<int>(std::min<int64_t>(rows, stop - start));
                plan.parts.push_back({start, n, codes_.data()[s], start + n > gap_starts_.data()[s]});
                in_chunk += n;
            }
        }
        plan.chunks.push_back(plan.parts.size());
        return plan;
    }

    template <typename Real, typename Work>
    void run(int rows, int threads, const std::vector<std::pair<double*, int64_t>>& totals, Work work,
             int64_t chunk_rows = kChunkRows) const {
        const Plan plan = this->plan(rows, chunk_rows);
        struct Worker {
            const Table& table;
            const Plan& plan;
            const std::vector<std::pair<double*, int64_t>>& totals;
            Work& work_on;
            int64_t size;
            std::vector<double> tile;
            std::vector<Real> told;
            std::vector<double*> sums;
            std::vector<double>&own = spare<0>(), &scratch = spare<1>();

            void work(int64_t chunk) {
                std::fill_n(sums[0], size, 0.0);
                for (size_t part = plan.chunks[chunk]; part < plan.chunks[chunk + 1]; ++part) {
                    const Part& own = plan.parts[part];
                    if constexpr (std::is_same_v<Real, double>)
                        work_on(table.block(own, tile), own.start, sums.data(), scratch);
                    else
                        work_on(table.block_of_floats(own, tile, told), own.start, sums.data(), scratch);
                }
            }

            void add(int64_t) {
                for (size_t i = 0; i < totals.size(); ++i)
                    for (int64_t j = 0; j < totals[i].second; ++j) totals[i].first[j] += sums[i][j];
            }
        };
        in_order(static_cast<int64_t>(plan.chunks.size()) - 1, threads, [&] {
            int64_t size = 0;
            for (const auto& total : totals) size += total.second;
            Worker worker{*this, plan, totals, work, size, {}, {}, {}};
            if (static_cast<int64_t>(worker.own.size()) < size + kPad) worker.own.resize(size + kPad);
            double* at = aligned(worker.own.data());
            for (const auto& total : totals) {
                worker.sums.push_back(at);
                at += total.second;
            }
            return worker;
        });
    }

    Block block(const Part& part, std::vector<double>& tile) const {
        Block block{};
        block.n = part.n;
        block.code = part.code;
        if (kept_.empty()) {
            tile.resize(static_cast<size_t>(width_ + gaps_.size()) * part.n + kPad);
            double* design = aligned(tile.data());
            units_.fill(X_, index_.data() + part.start, part.n, design, part.n);
            block.design = design;
            block.stride = part.n;
            if (part.has_gaps)
                gaps_.fill(X_, units_, index_.data() + part.start, part.n, design, design + int64_t{width_} * part.n,
                           part.n);
        } else {
            block.design = aligned(kept_.data()) + part.start;
            block.stride = n_;
        }
        if (part.has_gaps) block.missing = block.design + width_ * block.stride;
        if (statistics_) {
            block.statistics = statistics_->data() + part.start;
            block.statistics_stride = n_;
        }
        block.weight = weights_.data() + part.start;
        if (log_reach_) {
            block.log_reach = log_reach_->data() + part.start;
            block.log_other = log_other_->data() + part.start;
        }
        return block;
    }

    // The same in floats: those that are kept, or made anew in `told`.
    BlockOf<float> block_of_floats(const Part& part, std::vector<double>& tile, std::vector<float>& told) const {
        const Block from = kept_.empty() ? block(part, tile) : Block{};
        BlockOf<float> block{};
        block.n = part.n;
        block.code = part.code;
        if (kept_.empty()) {
            const int64_t size = from.stride * (width_ + (part.has_gaps ? gaps_.size() : 0));
            told.resize(static_cast<size_t>(size + kPad));
            std::copy_n(from.design, size, aligned(told.data()));
            block.design = aligned(told.data());
            block.stride = from.stride;
        } else {
            std::call_once(floats_->are_made, [&] {
                const size_t size = static_cast<size_t>(n_) * (width_ + gaps_.size());
                floats_->kept.resize(size + kPad);
                std::copy_n(aligned(kept_.data()), size, aligned(floats_->kept.data()));
            });
            block.design = aligned(floats_->kept.data()) + part.start;
            block.stride = n_;
        }
        std::call_once(floats_->are_told, [&] {
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

    // What passes in floats read, once there is one.
    struct Floats {
        std::once_flag are_made, are_told;
        std::vector<float> kept, weights, log_reach, log_other;
    };

    Cells X_;
    In<int64_t, 1> index_, segments_, gap_starts_;
    In<int32_t, 1> codes_;
    int k_;
    std::optional<In<double, 2>> statistics_;
    In<double, 1> weights_, mass_;
    std::optional<In<double, 1>> log_reach_, log_other_;
    Units units_;
    Gaps gaps_;
    int64_t n_;
    int width_;
    std::vector<double> tail_, kept_;
    std::unique_ptr<Floats> floats_ = std::make_unique<Floats>();
};

}  // namespace reticulum
