// The ascent of one tree: which step comes next, whether it is kept, and when precisions change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "information.hpp"
#include "leaves.hpp"
#include "metric.hpp"
#include "prices.hpp"
#include "quasi_newton.hpp"

namespace reticulum {

// How far an ascent goes, as in evidence/stack.py.
struct Effort {
    double tolerance;
    int rounds, max_passes;
    double least;
};

// What all trees of a stack share. If `fixed`, hyperplanes and precisions stay and only responsibilities converge.
struct AscentSetting {
    Columns columns;
    int m, k;
    bool fixed, in_floats;
    Effort effort;
    const Leaves& leaves;

    int64_t plane_size() const { return int64_t{m} * columns.width; }
    int64_t sums_size() const { return int64_t{m + 1} * k; }
};

// One tree's part of a pass, with the log evidence of its leaves; sums that the pass left out are null.
struct TreePass {
    double log_normalizer;
    const double *leaf_evidence, *expected, *statistics, *gradient, *observed, *complete;
    bool has_information, is_last;
};

// Where a tree starts, and where the state with its highest log evidence is written to.
struct TreeOut {
    double *hyperplanes, *precisions, *statistics, *log_evidence, *prices;
};

// Alternates E steps with Newton steps of all hyperplanes.
//
// Both are made in one pass: the statistics that a pass returns are the E step, its gradient gives the Newton step, and
// the next pass judges both together. Neither takes the other into account, nor a split the other splits; quasi-Newton
// steps do, from what the last few steps changed.
//
// A step that lowers the penalised bound is undone. A quasi-Newton step is shortened once, then made plain. Of a plain
// one the Newton step is damped: that bends it away from directions of little curvature, which few rows or rows far
// from a split know of, and where a step is longest and least to be trusted. An E step alone never lowers the bound.
class TreeAscent {
  public:
    TreeAscent(const AscentSetting& setting, const TreeOut& out, bool sparse)
        : setting_(setting), out_(out), metric_(setting.columns, setting.m), rounds_left_(setting.effort.rounds),
          absent_(setting.m) {
        const int64_t planes = setting_.plane_size(), sums = setting_.sums_size();
        hyperplanes_.assign(out.hyperplanes, out.hyperplanes + planes);
        statistics_.assign(out.statistics, out.statistics + sums);
        precisions_.assign(out.precisions, out.precisions + setting_.m);
        trial_hyperplanes_ = hyperplanes_;
        trial_statistics_ = statistics_;
        last_precisions_ = precisions_;
        last_log_updates_.assign(setting_.m, 0.0);
        for (Values* of_planes : {&gradient_, &newton_step_}) of_planes->assign(planes, 0.0);
        for (Values* of_sums : {&statistics_gradient_, &e_step_}) of_sums->assign(sums, 0.0);
        step_.assign(planes + sums, 0.0);
        information_lifetime_ = setting_.fixed ? kForEver : 0;
        const int width = setting_.columns.width;
        for (int split = 0; sparse && split < setting_.m; ++split)
            for (int column = 1; column < width; ++column)
                if (hyperplanes_[int64_t{split} * width + column] == 0.0) absent_[split].push_back(column);
        *out_.log_evidence = -std::numeric_limits<double>::infinity();
        std::fill_n(out_.prices, setting_.m, 0.0);
    }

    bool is_done() const { return is_done_; }
    bool needs_complete() const { return metric_.needs_complete(); }
    // Passes for which the last information may serve.
    int information_lifetime() const { return information_lifetime_; }
    const Values& trial_hyperplanes() const { return trial_hyperplanes_; }
    const Values& trial_statistics() const { return trial_statistics_; }
    // Columns whose slopes stay zero, for each split.
    const std::vector<std::vector<int>>& absent() const { return absent_; }

    // Takes the pass at the trial, and sets the next trial.
    void advance(const TreePass& pass) {
        const double value = value_of(pass);
        const double slack = setting_.in_floats ? kFloatSlack : kSlack;
        // An E step alone never lowers the bound: only rounding can.
        const bool is_e_step = !is_quasi_newton_ && (setting_.fixed || damping_ == kMostDamping);
        if (value >= value_ - slack * std::abs(value) || (is_e_step && std::isfinite(value)))
            accept(pass, value);
        else
            undo(value);
    }

    // Returns to the last accepted step, for one more pass there.
    void stay() {
        trial_hyperplanes_ = hyperplanes_;
        trial_statistics_ = statistics_;
    }

    // Writes the state down without another step.
    void finish(const TreePass& pass) { keep_if_best(value_of(pass), costs(pass)); }

    bool has_log_evidence() const { return std::isfinite(*out_.log_evidence); }

  private:
    // A tree is near its optimum when a step promises less than this many nats. Farther off, quasi-Newton steps soon
    // err, and the way up would depend on the last digits of all numbers.
    static constexpr double kNear = 1.0;
    // A step may lower the bound by this part of it, for rounding; in float32, whose rounding is larger, by more.
    static constexpr double kSlack = 1e-10, kFloatSlack = 1e-8;
    // Passes for which information serves while far, longer where it is wide and so costs most of the time, and near.
    static constexpr int kShortLifetime = 2, kShortWideLifetime = 4, kLongLifetime = 8;
    static constexpr int kForEver = std::numeric_limits<int>::max();
    static constexpr int kWide = 14;
    // Damping after a first step that lowered the bound, in units of the mean diagonal of complete-data information and
    // prior. Each further one raises it by the factor, up to where steps come to nothing, and each that raises the
    // bound lowers it, down to where it is left out.
    static constexpr double kFirstDamping = 1e-2, kMostDamping = 1e6, kLeastDamping = 1e-4, kDampingFactor = 10.0;
    // A precision has converged when its update is shorter than this, on a log scale.
    static constexpr double kSamePrecision = 0.005;
    // How many times its update a precision may move.
    static constexpr double kLongestExtrapolation = 8.0;
    // An ascent may gain this many times what its next step promises.
    static constexpr double kLongWay = 10.0;
    // A tree with updated precisions is worse if it lost more nats than this; less may be due to rounding.
    static constexpr double kWorse = 0.1;
    // How often a quasi-Newton step is halved towards a plain one, which leaves can always make.
    static constexpr int kHalvings = 5;
    // A quasi-Newton step that lowers the bound is shortened to a part of it between these.
    static constexpr double kShortest = 0.1, kLongest = 0.5;

    // The penalised bound at the trial.
    double value_of(const TreePass& pass) const {
        double divergence = 0.0;
        for (size_t s = 0; s < trial_statistics_.size(); ++s) divergence += pass.expected[s] * trial_statistics_[s];
        for (int leaf = 0; leaf <= setting_.m; ++leaf) divergence -= pass.leaf_evidence[leaf];
        return pass.log_normalizer - divergence - penalty(trial_hyperplanes_, precisions_, setting_.columns.width);
    }

    void undo(double value) {
        if (is_quasi_newton_ && length_ == 1.0) {
            shorten(value);
        } else {
            if (is_quasi_newton_)
                quasi_newton_.forget();
            else if (!setting_.fixed)
                damp();
            set_step(plain_step(), false);
        }
        set_trial();
    }

    // Goes to the top of the parabola with the value and slope before the step and the value after it.
    void shorten(double value) {
        const double top = rise_ / (2.0 * (rise_ - (value - value_)));
        // In this order, a top that is no number becomes the shortest.
        length_ = std::min(std::max(kShortest, top), kLongest);
    }

    void damp() {
        damping_ = std::min(std::max(kFirstDamping, damping_ * kDampingFactor), kMostDamping);
        metric_.invert(precisions_, damping_);
        set_newton_step();
        // An E step alone.
        if (damping_ == kMostDamping) std::fill(newton_step_.begin(), newton_step_.end(), 0.0);
    }

    void accept(const TreePass& pass, double value) {
        Point before = point();
        hyperplanes_ = trial_hyperplanes_;
        statistics_ = trial_statistics_;
        value_ = value;
        set_e_step(pass);
        if (!setting_.fixed) {
            ease_damping(pass);
            set_gradient(pass);
        }
        quasi_newton_.learn(std::move(before), point());
        const double promise = 0.5 * dot(statistics_gradient_, e_step_) + set_newton_step();
        judge(pass, promise);
        // Rows whose passes are in floats are sorted by their content: there, the way up does not depend on their
        // order.
        propose((promise < kNear || setting_.in_floats) && damping_ == 0.0);
    }

    void set_e_step(const TreePass& pass) {
        setting_.leaves.evaluate(pass.statistics, setting_.m + 1, statistics_gradient_.data(), nullptr);
        for (size_t s = 0; s < e_step_.size(); ++s) {
            e_step_[s] = pass.statistics[s] - statistics_[s];
            statistics_gradient_[s] -= pass.expected[s];
        }
    }

    void ease_damping(const TreePass& pass) {
        const double before = damping_;
        damping_ = before / kDampingFactor < kLeastDamping ? 0.0 : before / kDampingFactor;
        if (pass.observed) metric_.set_information(pass.observed, pass.complete);
        if (pass.observed || damping_ != before) metric_.invert(precisions_, damping_);
    }

    // Ends the ascent, updates precisions or lets it go on, by what the next step promises.
    void judge(const TreePass& pass, double promise) {
        const Effort& effort = setting_.effort;
        // A damped step promises too little to be judged by.
        const bool is_damped = damping_ > 0.0;
        const bool has_converged = promise < effort.tolerance && !is_damped;
        const int short_lifetime = setting_.columns.width < kWide ? kShortLifetime : kShortWideLifetime;
        information_lifetime_ = has_converged     ? 0
                                : setting_.fixed  ? kForEver
                                : promise > kNear ? short_lifetime
                                                  : kLongLifetime;
        // Precisions may have to become worse before they become better, but not for long.
        const double worse_than_best = *out_.log_evidence - kWorse;
        const double least = has_worsened_ ? std::max(effort.least, worse_than_best) : effort.least;
        const double hope = value_ + kLongWay * promise;
        if (!pass.has_information) {
            if (!is_damped && hope - last_price_ < least) information_lifetime_ = 0;
            return;
        }
        // Prices cost the most of all that is done between passes.
        const bool needs_prices = has_converged || pass.is_last || std::isfinite(least);
        const std::vector<SplitCost> splits = needs_prices ? costs(pass) : std::vector<SplitCost>();
        last_price_ = total_price(splits);
        const bool is_given_up = !is_damped && hope - last_price_ < least;
        if (has_converged) has_worsened_ = value_ - last_price_ < worse_than_best;
        if (has_converged || is_given_up || pass.is_last) keep_if_best(value_, splits);
        const bool goes_on = has_converged && !is_given_up && rounds_left_ > 0 && !setting_.fixed;
        is_done_ = is_given_up || (has_converged && !goes_on);
        if (!goes_on) return;
        --rounds_left_;
        update_precisions(pass, splits);
    }

    // Slopes follow a precision, so that its update falls short. How far follows from the last two updates, on a log
    // scale; without them, twice the update is about right.
    void update_precisions(const TreePass& pass, const std::vector<SplitCost>& splits) {
        const int width = setting_.columns.width;
        const double before = penalty(hyperplanes_, precisions_, width);
        double longest = 0.0;
        Values updated(setting_.m);
        for (int split = 0; split < setting_.m; ++split) {
            const double precision = precisions_[split];
            const double* hyperplane = hyperplanes_.data() + int64_t{split} * width;
            const double update = updated_precision(hyperplane, width, splits[split].undetermined);
            const double log_update = std::log(update / precision);
            longest = std::max(longest, std::abs(log_update));
            const double moved = std::log(precision / last_precisions_[split]);
            const double eased = last_log_updates_[split] - log_update;
            const double factor = moved * eased > 0.0 ? moved / eased : 2.0;
            updated[split] =
                std::clamp(precision * std::exp(std::clamp(factor, 1.0, kLongestExtrapolation) * log_update),
                           kLeastPrecision, kLargestPrecision);
            last_precisions_[split] = precision;
            last_log_updates_[split] = log_update;
        }
        is_done_ = longest < kSamePrecision;
        quasi_newton_.change_precisions(precisions_, updated, width);
        precisions_ = updated;
        value_ += before - penalty(hyperplanes_, precisions_, width);
        set_gradient(pass);
        metric_.invert(precisions_, damping_);
        set_newton_step();
    }

    std::vector<SplitCost> costs(const TreePass& pass) const {
        std::vector<SplitCost> splits;
        for (int split = 0; split < setting_.m; ++split)
            splits.push_back(split_cost(setting_.columns, pass.observed + split * setting_.columns.pairs(),
                                        precisions_[split], absent_[split]));
        return splits;
    }

    static double total_price(const std::vector<SplitCost>& splits) {
        double total = 0.0;
        for (const SplitCost& split : splits) total += split.price;
        return total;
    }

    void keep_if_best(double value, const std::vector<SplitCost>& splits) {
        const double log_evidence = value - total_price(splits);
        if (!(log_evidence > *out_.log_evidence)) return;
        std::copy(hyperplanes_.begin(), hyperplanes_.end(), out_.hyperplanes);
        std::copy(precisions_.begin(), precisions_.end(), out_.precisions);
        std::copy(statistics_.begin(), statistics_.end(), out_.statistics);
        for (int split = 0; split < setting_.m; ++split) out_.prices[split] = splits[split].price;
        *out_.log_evidence = log_evidence;
    }

    void propose(bool is_near) {
        if (!is_near) quasi_newton_.forget();
        if (!set_quasi_newton_step()) set_step(plain_step(), false);
        set_trial();
    }

    // False where nothing is in memory, the step does not rise, or leaves could not have such statistics.
    bool set_quasi_newton_step() {
        const Values plain = plain_step();
        Values excess = quasi_newton_.step(metric_, joined(gradient_, statistics_gradient_), e_step_);
        // Families answer for finite statistics only.
        if (excess.empty() || !std::all_of(excess.begin(), excess.end(), [](double x) { return std::isfinite(x); }))
            return false;
        add(excess, -1.0, plain);
        double share = 1.0;
        for (int halved = 0; halved <= kHalvings; ++halved, share *= 0.5) {
            set_step(plain, true);
            add(step_, share, excess);
            set_trial();
            if (!setting_.leaves.are_possible(trial_statistics_.data(), setting_.m + 1)) continue;
            rise_ = dot(joined(gradient_, statistics_gradient_), step_);
            return rise_ > 0.0;
        }
        return false;
    }

    Values plain_step() const { return joined(newton_step_, e_step_); }

    void set_step(Values step, bool is_quasi_newton) {
        step_ = std::move(step);
        length_ = 1.0;
        is_quasi_newton_ = is_quasi_newton;
    }

    void set_trial() {
        const size_t planes = hyperplanes_.size();
        for (size_t j = 0; j < planes; ++j) {
            const double trial = hyperplanes_[j] + length_ * step_[j];
            trial_hyperplanes_[j] = setting_.in_floats ? static_cast<float>(trial) : trial;
        }
        for (size_t s = 0; s < statistics_.size(); ++s)
            trial_statistics_[s] = statistics_[s] + length_ * step_[planes + s];
    }

    void set_gradient(const TreePass& pass) {
        const int width = setting_.columns.width;
        for (size_t j = 0; j < gradient_.size(); ++j)
            gradient_[j] = pass.gradient[j] -
                           prior_precision(precisions_[j / width], static_cast<int>(j % width)) * hyperplanes_[j];
    }

    // Returns the nats that the step promises.
    double set_newton_step() {
        if (setting_.fixed) return 0.0;
        metric_.apply(gradient_.data(), newton_step_.data());
        return 0.5 * dot(gradient_, newton_step_);
    }

    Point point() const {
        return {joined(hyperplanes_, statistics_), joined(gradient_, statistics_gradient_), e_step_};
    }

    const AscentSetting& setting_;
    TreeOut out_;
    Values hyperplanes_, statistics_, precisions_, trial_hyperplanes_, trial_statistics_;
    // Precisions before their last update, and that update on a log scale.
    Values last_precisions_, last_log_updates_;
    // Gradients of the penalised bound by hyperplanes and by statistics, and the steps that follow from them.
    Values gradient_, statistics_gradient_, newton_step_, e_step_;
    Metric metric_;
    QuasiNewton quasi_newton_;
    // The step that is tried, which part of it, and by how much the bound rises along it at first.
    Values step_;
    double length_ = 1.0, rise_ = 0.0;
    bool is_quasi_newton_ = false;
    double value_ = -std::numeric_limits<double>::infinity(), damping_ = 0.0, last_price_ = 0.0;
    // Whether it was worth less when it last converged than once before.
    bool has_worsened_ = false, is_done_ = false;
    int rounds_left_, information_lifetime_ = 0;
    std::vector<std::vector<int>> absent_;
};

}  // namespace reticulum
