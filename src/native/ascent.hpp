// The ascent of `evidence/ascent.py` in compiled code: the same steps in the same order, for rows in a table.
//
// Where trees are small it is not the rows that take the time but the handling of a few numbers between two passes.
// See `_Ascent` in evidence/ascent.py for what is done and why; constants must be the same as there. In floats, which
// it knows nothing of, steps may lower the bound by somewhat more, which is their rounding, and are informed from afar.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "leaves.hpp"
#include "linear.hpp"
#include "pass.hpp"
#include "table.hpp"

namespace reticulum {

using Values = std::vector<double>;

constexpr double kOffsetPrecision = 0.01;
constexpr double kPrecisionPrior = 0.02;
constexpr double kLeastPrecision = 1e-6, kLargestPrecision = 1e3;
constexpr double kNear = 1.0;
constexpr double kSlack = 1e-10, kFloatSlack = 1e-8;
constexpr int kShortService = 2, kShortWideService = 4, kLongService = 8, kForEver = std::numeric_limits<int>::max();
constexpr int kWide = 14;
constexpr double kLeastDamping = 1e-4, kFirstDamping = 1e-2, kMostDamping = 1e6, kDampingFactor = 10.0;
constexpr double kCaution = 0.2;
constexpr double kSamePrecision = 0.005;
constexpr double kLongestPull = 8.0;
constexpr double kLongWay = 10.0;
constexpr double kWorse = 0.1;
constexpr int kMemory = 12;
constexpr double kLeastFall = 1e-10;
constexpr int kHalvings = 5;
constexpr double kShortest = 0.1, kLongest = 0.5;

struct Effort {
    double tolerance;
    int rounds, max_passes;
    double least;
};

class Ascent {
  public:
    Ascent(const Table& table, const Table& informants, double rows_per_informant, const Leaves& leaves,
           const int64_t* children, int c, int m, double* hyperplanes, double* precisions, double* statistics,
           double* log_evidence, double* prices, bool fixed, bool sparse, int threads, int64_t fewest_gates,
           bool in_floats)
        : table_(table), informants_(informants), rows_per_informant_(rows_per_informant), leaves_(leaves),
          children_(children), c_(c), m_(m), w_(table.width()), lead_(table.lead()),
          packed_(lead_ < w_ ? lead_ + 1 : w_), L_(m + 1), k_(table.n_statistics()), planes_(int64_t{m} * w_),
          sums_(int64_t{L_} * k_), square_(int64_t{lead_} * lead_), pairs_(int64_t{packed_} * (packed_ + 1) / 2),
          fixed_(fixed), threads_(threads), fewest_gates_(fewest_gates), in_floats_(in_floats),
          slack_(in_floats ? kFloatSlack : kSlack), best_hyperplanes_(hyperplanes), best_precisions_(precisions),
          best_statistics_(statistics), best_log_evidence_(log_evidence), best_prices_(prices) {
        for (int t = 0; t < c; ++t) {
            State state;
            state.hyperplanes.assign(hyperplanes + t * planes_, hyperplanes + (t + 1) * planes_);
            state.statistics.assign(statistics + t * sums_, statistics + (t + 1) * sums_);
            state.precisions.assign(precisions + int64_t{t} * m, precisions + int64_t{t + 1} * m);
            state.last_precisions = state.precisions;
            state.last_pull.assign(m, 0.0);
            state.trial_hyperplanes = state.hyperplanes;
            state.trial_statistics = state.statistics;
            for (Values* of_planes : {&state.slope, &state.direction}) of_planes->assign(planes_, 0.0);
            for (Values* of_sums : {&state.push, &state.change}) of_sums->assign(sums_, 0.0);
            state.step.assign(planes_ + sums_, 0.0);
            state.observed.assign(m * pairs_, 0.0);
            state.complete.assign(m * pairs_, 0.0);
            state.inverse.assign(m * square_, 0.0);
            state.tail_inverse.assign(int64_t{m} * (w_ - lead_), 0.0);
            state.serves = fixed ? kForEver : 0;
            if (sparse)
                for (int64_t j = 0; j < planes_; ++j)
                    if (j % w_ && state.hyperplanes[j] == 0.0) state.absent.push_back(j);
            states_.push_back(std::move(state));
            best_log_evidence_[t] = -std::numeric_limits<double>::infinity();
        }
    }

    void run(const Effort& effort) {
        for (auto& state : states_) state.rounds_left = effort.rounds;
        int service = 0;
        for (int turn = 0; turn < effort.max_passes; ++turn) {
            std::vector<int> live;
            // Trees that have not settled by then are to be judged, too.
            const bool is_last = turn + 1 == effort.max_passes;
            bool information = is_last, complete = false;
            for (int t = 0; t < c_; ++t)
                if (!states_[t].done) {
                    live.push_back(t);
                    information |= service >= states_[t].serves;
                    complete |= states_[t].wants_complete;
                }
            if (live.empty()) break;
            service = information ? 0 : service + 1;
            pass(live, information, complete && !fixed_);
            if (PyErr_CheckSignals()) throw nb::python_error();
            for (size_t i = 0; i < live.size(); ++i) {
                State& state = states_[live[i]];
                const double value = value_of(state, i);
                // An E step alone never lowers the bound: only rounding can.
                const bool is_e_step = !state.informed && (fixed_ || state.damping == kMostDamping);
                if (value >= state.value - slack_ * std::abs(value) || (is_e_step && std::isfinite(value)))
                    accept(live[i], i, value, information, is_last, effort);
                else
                    take_back(state, value);
            }
        }
        std::vector<int> unsettled;
        for (int t = 0; t < c_; ++t)
            if (!std::isfinite(best_log_evidence_[t])) {
                unsettled.push_back(t);
                states_[t].trial_hyperplanes = states_[t].hyperplanes;
                states_[t].trial_statistics = states_[t].statistics;
            }
        if (unsettled.empty()) return;
        pass(unsettled, true, false);
        for (size_t i = 0; i < unsettled.size(); ++i) {
            const int t = unsettled[i];
            note(t, value_of(states_[t], i), cost(states_[t], i));
        }
    }

  private:
    // A move of hyperplanes and statistics, and by how much the gradient and the E step fell along it.
    struct Pair {
        Values move, fall, shift;
    };

    struct State {
        Values hyperplanes, statistics, precisions, last_precisions, last_pull;
        Values trial_hyperplanes, trial_statistics;
        // Slope of the penalised bound, information packed as in passes, and what follows from them.
        Values slope, observed, complete, direction, inverse, tail_inverse;
        // Slope of the bound along the statistics, and the E step.
        Values push, change;
        double value = -std::numeric_limits<double>::infinity(), damping = 0.0, cost = 0.0;
        // Whether complete-data information was of use when the metric was last made.
        bool done = false, wants_complete = true;
        // Whether it was worth less when it last settled than once before.
        bool has_worsened = false;
        int rounds_left = 0, serves = 0;
        // Slopes, by their place among all, that stay zero.
        std::vector<int64_t> absent;
        // The last moves, the newest last.
        std::vector<Pair> pairs;
        // The step that is tried, which part of it, by how much the bound rises along it at first, and whether it is
        // informed.
        Values step;
        double length = 1.0, rise = 0.0;
        bool informed = false;
    };

    static double prior_precision(double own, int j) { return j == 0 ? std::min(kOffsetPrecision, own) : own; }

    static double prior_precision(const State& state, int split, int j) {
        return prior_precision(state.precisions[split], j);
    }

    double penalty(const State& state, const Values& hyperplanes) const {
        double sum = 0.0;
        for (int split = 0; split < m_; ++split)
            for (int j = 0; j < w_; ++j) {
                const double weight = hyperplanes[int64_t{split} * w_ + j];
                sum += prior_precision(state, split, j) * weight * weight;
            }
        return 0.5 * sum;
    }

    // Complete-data information, if it is asked for, is part of information.
    void pass(const std::vector<int>& trees, bool information, bool complete) {
        const int count = static_cast<int>(trees.size());
        trial_.clear();
        given_.clear();
        for (int t : trees) {
            trial_.insert(trial_.end(), states_[t].trial_hyperplanes.begin(), states_[t].trial_hyperplanes.end());
            given_.insert(given_.end(), states_[t].trial_statistics.begin(), states_[t].trial_statistics.end());
        }
        expected_.resize(given_.size());
        evidence_.resize(static_cast<size_t>(count) * L_);
        leaves_.evaluate(given_.data(), int64_t{count} * L_, expected_.data(), evidence_.data());
        if (in_floats_) round_to_floats(expected_.data(), count, L_, k_);
        log_normalizer_.assign(count, 0.0);
        new_statistics_.assign(given_.size(), 0.0);
        // Where hyperplanes stay as they are no one asks where they should go.
        gradient_.assign(fixed_ ? 0 : trial_.size(), 0.0);
        observed_.assign(information ? count * m_ * pairs_ : 0, 0.0);
        complete_.assign(complete ? observed_.size() : 0, 0.0);
        const Trees stack = {count, m_, w_, trial_.data(), children_};
        const Sums sums = {log_normalizer_.data(), new_statistics_.data(), fixed_ ? nullptr : gradient_.data(), nullptr,
                           nullptr};
        // A tree without splits has no information.
        Sums with_information = sums;
        if (information && m_) {
            with_information.observed = observed_.data();
            if (complete) with_information.complete = complete_.data();
        }
        nb::gil_scoped_release release;
        if (with_information.observed == nullptr || &informants_ == &table_) {
            add_pass(table_, stack, with_information);
        } else {
            add_pass(informants_, stack, with_information);
            for (double& value : observed_) value *= rows_per_informant_;
            for (double& value : complete_) value *= rows_per_informant_;
            for (Values* told : {&log_normalizer_, &new_statistics_, &gradient_})
                std::fill(told->begin(), told->end(), 0.0);
            add_pass(table_, stack, sums);
        }
        for (int i = 0; i < count; ++i)
            for (int64_t place : states_[trees[i]].absent) hide(i, place);
    }

    // Leaves a slope of the i-th tree out of the last pass.
    void hide(int i, int64_t place) {
        if (!fixed_) gradient_[i * planes_ + place] = 0.0;
        if (observed_.empty()) return;
        const int64_t hidden = place % w_, first = (int64_t{i} * m_ + place / w_) * pairs_;
        for (int64_t row = 0, at = first; row < packed_; at += packed_ - row++)
            for (int64_t column = row; column < packed_; ++column)
                if (row == hidden || column == hidden)
                    for (Values* told : {&observed_, &complete_})
                        if (!told->empty()) (*told)[at + column - row] = 0.0;
    }

    void add_pass(const Table& table, const Trees& stack, const Sums& sums) {
        const int64_t gates = table.n_rows() * stack.c * m_ * (sums.observed ? w_ : 1);
        const int threads = gates >= fewest_gates_ ? threads_ : 1;
        if (in_floats_)
            reticulum::add_pass<float>(table, stack, expected_.data(), threads, sums);
        else
            reticulum::add_pass<double>(table, stack, expected_.data(), threads, sums);
    }

    // Penalised bound of the i-th tree of the last pass.
    double value_of(const State& state, size_t i) {
        double divergence = 0.0;
        for (int64_t s = 0; s < sums_; ++s) divergence += expected_[i * sums_ + s] * state.trial_statistics[s];
        for (int leaf = 0; leaf < L_; ++leaf) divergence -= evidence_[i * L_ + leaf];
        return log_normalizer_[i] - divergence - penalty(state, state.trial_hyperplanes);
    }

    void take_back(State& state, double value) {
        if (state.informed && state.length == 1.0) {
            shorten(state, value);
        } else {
            if (state.informed)
                state.pairs.clear();
            else if (!fixed_)
                damp(state);
            set_step(state, plain_step(state), false);
        }
        attempt(state);
    }

    static void shorten(State& state, double value) {
        const double top = state.rise / (2.0 * (state.rise - (value - state.value)));
        // In this order, a top that is no number becomes the shortest.
        state.length = std::min(std::max(kShortest, top), kLongest);
    }

    void damp(State& state) {
        state.damping = std::min(std::max(kFirstDamping, state.damping * kDampingFactor), kMostDamping);
        invert(state);
        aim(state);
        // An E step alone.
        if (state.damping == kMostDamping) std::fill(state.direction.begin(), state.direction.end(), 0.0);
    }

    void accept(int t, size_t i, double value, bool information, bool is_last, const Effort& effort) {
        State& state = states_[t];
        Pair last = known(state);
        state.hyperplanes = state.trial_hyperplanes;
        state.statistics = state.trial_statistics;
        state.value = value;
        const double* told = new_statistics_.data() + i * sums_;
        leaves_.evaluate(told, L_, state.push.data(), nullptr);
        for (int64_t s = 0; s < sums_; ++s) {
            state.change[s] = told[s] - state.statistics[s];
            state.push[s] -= expected_[i * sums_ + s];
        }
        if (!fixed_) {
            const double before = state.damping;
            state.damping = before / kDampingFactor < kLeastDamping ? 0.0 : before / kDampingFactor;
            set_slope(state, i);
            if (information)
                renew_metric(state, i);
            else if (state.damping != before)
                invert(state);
        }
        learn(state, std::move(last));
        const double promise = 0.5 * dot(state.push, state.change) + aim(state);
        // A damped step promises too little to be judged by.
        const bool is_damped = state.damping > 0.0;
        const bool settled = promise < effort.tolerance && !is_damped;
        const int short_service = w_ < kWide ? kShortService : kShortWideService;
        state.serves = settled ? 0 : fixed_ ? kForEver : promise > kNear ? short_service : kLongService;
        // Precisions may have to become worse before they become better, but not for long.
        const double own_least = best_log_evidence_[t] - kWorse;
        const double least = state.has_worsened ? std::max(effort.least, own_least) : effort.least;
        if (information) {
            // Prices cost the most of all that is done between passes.
            const bool asked = settled || is_last || std::isfinite(least);
            Values uncertain;
            const Values price = asked ? cost(state, i, &uncertain) : Values();
            const double total = std::accumulate(price.begin(), price.end(), 0.0);
            const bool given_up = !is_damped && value + kLongWay * promise - total < least;
            if (settled) state.has_worsened = value - total < own_least;
            if (settled || given_up || is_last) note(t, value, price);
            state.cost = total;
            const bool tunable = settled && !given_up && state.rounds_left > 0 && !fixed_;
            state.done = given_up || (settled && !tunable);
            if (tunable) {
                --state.rounds_left;
                tune(state, i, uncertain);
            }
        } else if (!is_damped && value + kLongWay * promise - state.cost < least) {
            state.serves = 0;
        }
        // In floats, rows are in an order of their own: what it decides can be relied on.
        propose(state, (promise < kNear || in_floats_) && !is_damped);
    }

    // Unpacks the i-th tree's observed information of a split, with rows and columns scaled. Returns that of the tail.
    double unpack(size_t i, int split, const double* scale, double* out) const {
        const double* at = observed_.data() + (static_cast<int64_t>(i) * m_ + split) * pairs_;
        for (int row = 0; row < lead_; ++row, at += packed_ - lead_)
            for (int column = row; column < lead_; ++column, ++at)
                out[int64_t{row} * lead_ + column] = out[int64_t{column} * lead_ + row] =
                    *at * scale[row] * scale[column];
        return lead_ < w_ ? *at : 0.0;
    }

    void renew_metric(State& state, size_t i) {
        const int64_t size = m_ * pairs_;
        state.observed.assign(observed_.begin() + i * size, observed_.begin() + (i + 1) * size);
        if (!complete_.empty()) state.complete.assign(complete_.begin() + i * size, complete_.begin() + (i + 1) * size);
        invert(state);
    }

    void invert(State& state) {
        Values matrix(square_), work(square_);
        const double caution = state.damping > 0.0 ? kCaution : 0.0;
        state.wants_complete = state.damping > 0.0;
        for (int split = 0; split < m_; ++split) {
            const double* observed = state.observed.data() + split * pairs_;
            const double* complete = state.complete.data() + split * pairs_;
            double trace = 0.0;
            for (int64_t row = 0, at = 0; row < lead_; at += packed_ - row++)
                trace += complete[at] + prior_precision(state, split, static_cast<int>(row));
            const double damping = state.damping * trace / lead_;
            double* inverse = state.inverse.data() + split * square_;
            for (double share : {caution, 1.0}) {
                for (int64_t row = 0, at = 0; row < lead_; ++row, at += packed_ - lead_) {
                    double* to = matrix.data() + row * lead_;
                    for (int64_t column = row; column < lead_; ++column, ++at)
                        to[column] = (1.0 - share) * observed[at] + share * complete[at];
                    to[row] += prior_precision(state, split, static_cast<int>(row)) + damping;
                }
                if (kernels.cholesky(matrix.data(), lead_)) {
                    kernels.inverse_from_cholesky(matrix.data(), lead_, work.data(), inverse);
                    break;
                }
                state.wants_complete = true;
            }
            // The tail is a diagonal matrix.
            for (int j = lead_; j < w_; ++j) {
                const double variance = table_.tail()[j - lead_], prior = state.precisions[split] + damping;
                double precision = ((1.0 - caution) * observed[pairs_ - 1] + caution * complete[pairs_ - 1]) * variance;
                if (!(precision + prior > 0.0)) {
                    precision = complete[pairs_ - 1] * variance;
                    state.wants_complete = true;
                }
                state.tail_inverse[int64_t{split} * (w_ - lead_) + j - lead_] = 1.0 / (precision + prior);
            }
        }
    }

    // The slope of the penalised bound at the i-th tree of the last pass.
    void set_slope(State& state, size_t i) const {
        for (int64_t j = 0; j < planes_; ++j)
            state.slope[j] =
                gradient_[i * planes_ + j] -
                prior_precision(state, static_cast<int>(j / w_), static_cast<int>(j % w_)) * state.hyperplanes[j];
    }

    double aim(State& state) const {
        if (fixed_) return 0.0;
        newton_step(state, state.slope.data(), state.direction.data());
        return 0.5 * dot(state.slope, state.direction);
    }

    void newton_step(const State& state, const double* slope, double* step) const {
        std::fill(step, step + planes_, 0.0);
        for (int split = 0; split < m_; ++split, slope += w_, step += w_) {
            for (int row = 0; row < lead_; ++row) {
                const double* inverse = state.inverse.data() + split * square_ + int64_t{row} * lead_;
                for (int j = 0; j < lead_; ++j) step[j] += inverse[j] * slope[row];
            }
            const double* tail_inverse = state.tail_inverse.data() + int64_t{split} * (w_ - lead_);
            for (int j = lead_; j < w_; ++j) step[j] = tail_inverse[j - lead_] * slope[j];
        }
    }

    // Information of a split in units of its prior, negative eigenvalues counted as 0: the price, and how much of the
    // slopes remains as uncertain as before.
    std::pair<double, double> weighed(const State& state, size_t i, int split) const {
        Values scale(lead_), matrix(square_), work;
        for (int j = 0; j < lead_; ++j) scale[j] = 1.0 / std::sqrt(prior_precision(state, split, j));
        const double of_tail = unpack(i, split, scale.data(), matrix.data());
        work = matrix;
        // A slope that is none has no part in whether the others have negative eigenvalues.
        for (int64_t place : state.absent)
            if (place / w_ == split) work[(place % w_) * (lead_ + 1)] = 1.0;
        double price = 0.0, uncertain = 0.0;
        for (double variance : table_.tail()) {
            const double value = std::max(of_tail * variance / state.precisions[split], 0.0);
            price += 0.5 * std::log1p(value);
            uncertain += 1.0 / (1.0 + value);
        }
        if (kernels.cholesky(work.data(), lead_)) {
            // No eigenvalue is negative, and none need be known.
            for (int j = 0; j < lead_; ++j) matrix[int64_t{j} * lead_ + j] += 1.0;
            kernels.cholesky(matrix.data(), lead_);
            for (int j = 0; j < lead_; ++j) price += std::log(matrix[int64_t{j} * lead_ + j]);
            Values inverse(square_);
            kernels.inverse_from_cholesky(matrix.data(), lead_, work.data(), inverse.data());
            for (int j = 1; j < lead_; ++j) uncertain += inverse[int64_t{j} * lead_ + j];
            return {price, uncertain};
        }
        Values values;
        eigensystem(matrix.data(), lead_, values);
        for (int e = 0; e < lead_; ++e) {
            const double value = std::max(values[e], 0.0);
            price += 0.5 * std::log1p(value);
            for (int j = 1; j < lead_; ++j) {
                const double part = matrix[int64_t{j} * lead_ + e];
                uncertain += part * part / (1.0 + value);
            }
        }
        return {price, uncertain};
    }

    // Prices of the splits and, if asked for, how much of their slopes is uncertain: both come from one decomposition.
    Values cost(const State& state, size_t i, Values* uncertain = nullptr) const {
        Values prices;
        for (int split = 0; split < m_; ++split) {
            const auto [price, remaining] = weighed(state, i, split);
            prices.push_back(price);
            if (uncertain) uncertain->push_back(remaining);
        }
        return prices;
    }

    void note(int t, double value, const Values& prices) {
        const double log_evidence = value - std::accumulate(prices.begin(), prices.end(), 0.0);
        if (!(log_evidence > best_log_evidence_[t])) return;
        const State& state = states_[t];
        std::copy(state.hyperplanes.begin(), state.hyperplanes.end(), best_hyperplanes_ + t * planes_);
        std::copy(state.precisions.begin(), state.precisions.end(), best_precisions_ + int64_t{t} * m_);
        std::copy(state.statistics.begin(), state.statistics.end(), best_statistics_ + t * sums_);
        std::copy(prices.begin(), prices.end(), best_prices_ + int64_t{t} * m_);
        best_log_evidence_[t] = log_evidence;
    }

    // Given how much of each split's slopes is `uncertain`.
    void tune(State& state, size_t i, const Values& uncertain) {
        const double before = penalty(state, state.hyperplanes);
        double longest = 0.0;
        Values tuned(m_);
        for (int split = 0; split < m_; ++split) {
            const double own = state.precisions[split];
            const double determined = std::clamp(w_ - 1 - uncertain[split], 0.0, double(w_ - 1));
            double squared = 0.0;
            for (int j = 1; j < w_; ++j) {
                const double slope = state.hyperplanes[int64_t{split} * w_ + j];
                squared += slope * slope;
            }
            const double update = std::clamp((determined + kPrecisionPrior) / (squared + kPrecisionPrior),
                                             kLeastPrecision, kLargestPrecision);
            const double pull = std::log(update / own);
            longest = std::max(longest, std::abs(pull));
            const double moved = std::log(own / state.last_precisions[split]);
            const double eased = state.last_pull[split] - pull;
            const double factor = moved * eased > 0.0 ? moved / eased : 2.0;
            tuned[split] = std::clamp(own * std::exp(std::clamp(factor, 1.0, kLongestPull) * pull), kLeastPrecision,
                                      kLargestPrecision);
            state.last_precisions[split] = own;
            state.last_pull[split] = pull;
        }
        state.done = longest < kSamePrecision;
        bend(state, tuned);
        state.precisions = tuned;
        state.value += before - penalty(state, state.hyperplanes);
        set_slope(state, i);
        invert(state);
        aim(state);
    }

    void propose(State& state, bool near) {
        if (!near) state.pairs.clear();
        if (!set_informed_step(state)) set_step(state, plain_step(state), false);
        attempt(state);
    }

    // False where no more is known than a plain step knows, the step does not rise, or leaves cannot make any of it.
    bool set_informed_step(State& state) {
        const Values plain = plain_step(state);
        Values excess = quasi_newton_step(state);
        // Only what is finite can be asked about.
        if (excess.empty() || !std::all_of(excess.begin(), excess.end(), [](double x) { return std::isfinite(x); }))
            return false;
        add(excess, -1.0, plain);
        double share = 1.0;
        for (int halved = 0; halved <= kHalvings; ++halved, share *= 0.5) {
            set_step(state, plain, true);
            add(state.step, share, excess);
            attempt(state);
            if (!leaves_.are_possible(state.trial_statistics.data(), L_)) continue;
            state.rise = dot(joined(state.slope, state.push), state.step);
            return state.rise > 0.0;
        }
        return false;
    }

    static Values plain_step(const State& state) { return joined(state.direction, state.change); }

    static void set_step(State& state, Values step, bool informed) {
        state.step = std::move(step);
        state.length = 1.0;
        state.informed = informed;
    }

    void attempt(State& state) const {
        const double* step = state.step.data();
        for (int64_t j = 0; j < planes_; ++j) {
            const double trial = state.hyperplanes[j] + state.length * step[j];
            state.trial_hyperplanes[j] = in_floats_ ? static_cast<float>(trial) : trial;
        }
        for (int64_t s = 0; s < sums_; ++s)
            state.trial_statistics[s] = state.statistics[s] + state.length * step[planes_ + s];
    }

    // Quasi-Newton steps, as in evidence/quasi_newton.py. Unknowns are the hyperplanes, then the statistics.

    static Values joined(const Values& of_planes, const Values& of_sums) {
        Values both(of_planes);
        both.insert(both.end(), of_sums.begin(), of_sums.end());
        return both;
    }

    static double dot(const Values& a, const Values& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }

    static void add(Values& to, double share, const Values& what) {
        for (size_t j = 0; j < to.size(); ++j) to[j] += share * what[j];
    }

    // Where a tree is, the slope of the penalised bound there, and the E step.
    static Pair known(const State& state) {
        return {joined(state.hyperplanes, state.statistics), joined(state.slope, state.push), state.change};
    }

    // Learns from what was known before the last move.
    static void learn(State& state, Pair last) {
        const Pair now = known(state);
        for (size_t j = 0; j < now.move.size(); ++j) last.move[j] = now.move[j] - last.move[j];
        add(last.fall, -1.0, now.fall);
        add(last.shift, -1.0, now.shift);
        double size = 0.0;
        for (size_t j = 0; j < last.move.size(); ++j) size += std::abs(last.move[j] * last.fall[j]);
        if (!(dot(last.move, last.fall) > kLeastFall * size)) return;
        if (state.pairs.size() == kMemory) state.pairs.erase(state.pairs.begin());
        state.pairs.push_back(std::move(last));
    }

    // Keeps what is known of slopes true when precisions change.
    void bend(State& state, const Values& precisions) const {
        for (Pair& pair : state.pairs)
            for (int64_t j = 0; j < planes_; ++j) {
                const int split = static_cast<int>(j / w_), place = static_cast<int>(j % w_);
                const double added = prior_precision(precisions[split], place) - prior_precision(state, split, place);
                pair.fall[j] += added * pair.move[j];
            }
    }

    // Nothing where nothing is known.
    Values quasi_newton_step(const State& state) const {
        Values inverse;
        for (const Pair& pair : state.pairs) {
            const double curvature = dot(pair.move, pair.fall);
            inverse.push_back(curvature > 0.0 ? 1.0 / curvature : 0.0);
        }
        if (std::all_of(inverse.begin(), inverse.end(), [](double value) { return value == 0.0; })) return {};
        Values gradient = joined(state.slope, state.push), change = state.change, shares(inverse.size());
        for (size_t p = shares.size(); p-- > 0;) {
            const Pair& pair = state.pairs[p];
            shares[p] = inverse[p] * dot(pair.move, gradient);
            add(gradient, -shares[p], pair.fall);
            add(change, -shares[p], pair.shift);
        }
        Values step(planes_);
        newton_step(state, gradient.data(), step.data());
        step.insert(step.end(), change.begin(), change.end());
        for (size_t p = 0; p < shares.size(); ++p) {
            const Pair& pair = state.pairs[p];
            add(step, shares[p] - inverse[p] * dot(pair.fall, step), pair.move);
        }
        return step;
    }

    const Table& table_;
    const Table& informants_;
    double rows_per_informant_;
    const Leaves& leaves_;
    const int64_t* children_;
    int c_, m_, w_, lead_, packed_, L_, k_;
    int64_t planes_, sums_, square_, pairs_;
    bool fixed_;
    int threads_;
    int64_t fewest_gates_;
    bool in_floats_;
    double slack_;
    std::vector<State> states_;
    double *best_hyperplanes_, *best_precisions_, *best_statistics_, *best_log_evidence_, *best_prices_;
    // The last pass.
    Values trial_, given_, expected_, log_normalizer_, new_statistics_, gradient_, observed_, complete_, evidence_;
};

// Climbs in place: hyperplanes (c, m, width), precisions (c, m) and statistics (c, leaves, k).
//
// Information is that of the informants, a sample of the rows or all of them.
inline void ascend(const Table& table, const Table& informants, double rows_per_informant, In<int64_t, 2> children,
                   Out<3> hyperplanes, Out<2> precisions, Out<3> statistics, const Leaves* compiled,
                   nb::object family, bool fixed, bool sparse, double tolerance, int rounds, int max_passes,
                   double least, int threads, int64_t fewest_gates, bool in_floats, Out<1> log_evidence,
                   Out<2> prices) {
    const int c = static_cast<int>(hyperplanes.shape(0)), m = static_cast<int>(hyperplanes.shape(1));
    const int k = table.n_statistics();
    require(static_cast<int>(hyperplanes.shape(2)) == table.width(), "hyperplanes need one slope for each column");
    require(static_cast<int>(children.shape(0)) == m && children.shape(1) == 2, "each split has two children");
    require_tree(m, children.data());
    for (const auto& shape : {std::pair{precisions.shape(0), precisions.shape(1)}, {prices.shape(0), prices.shape(1)}})
        require(static_cast<int>(shape.first) == c && static_cast<int>(shape.second) == m,
                "each split needs a precision");
    require(static_cast<int>(statistics.shape(0)) == c && static_cast<int>(statistics.shape(1)) == m + 1 &&
                static_cast<int>(statistics.shape(2)) == k && static_cast<int>(log_evidence.size()) == c,
            "each leaf needs statistics");
    require(!compiled || compiled->n_statistics() == k, "the prior has another size");
    const PythonLeaves called(family, k);
    const Leaves& leaves = compiled ? *compiled : called;
    require(!in_floats || (table.has_codes() && informants.has_codes()),
            "only targets with codes are climbed for in floats");
    require(!sparse || table.lead() == table.width(), "only trees on all columns can be sparse");
    require(informants.width() == table.width() && informants.n_statistics() == k, "informants are of another kind");
    Ascent ascent(table, informants, rows_per_informant, leaves, children.data(), c, m, hyperplanes.data(),
                  precisions.data(), statistics.data(), log_evidence.data(), prices.data(), fixed, sparse, threads,
                  fewest_gates, in_floats);
    ascent.run({tolerance, rounds, max_passes, least});
}

}  // namespace reticulum
