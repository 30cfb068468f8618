// The request for views: the rows that single leaves hold, and what the rest of the tree says of them.
#pragma once

#include <cstdint>
#include <vector>

#include "blocks.hpp"
#include "instruction_sets.hpp"
#include "trees.hpp"

namespace reticulum {

// The rows of one leaf: places in the table, log memberships, and log joints with all other leaves.
struct View {
    std::vector<int64_t> place;
    std::vector<double> reach, other;

    void append(const View& rows) {
        place.insert(place.end(), rows.place.begin(), rows.place.end());
        reach.insert(reach.end(), rows.reach.begin(), rows.reach.end());
        other.insert(other.end(), rows.other.begin(), rows.other.end());
    }
};

// One thread's part in the views: collects the rows of a chunk, then appends them.
class ViewCollector {
  public:
    ViewCollector(const Table& table, const Plan& plan, const Trees& trees, const Likelihoods& likelihoods,
                  double log_share, const int64_t* wanted, std::vector<View>& views)
        : table_(table), plan_(plan), trees_(trees), likelihoods_(likelihoods), log_share_(log_share), wanted_(wanted),
          views_(views) {}

    void work(int64_t chunk) {
        of_chunk_.assign(views_.size(), View());
        for (size_t part = plan_.chunks[chunk]; part < plan_.chunks[chunk + 1]; ++part) collect(plan_.parts[part]);
    }

    void add(int64_t) {
        for (size_t v = 0; v < views_.size(); ++v) views_[v].append(of_chunk_[v]);
    }

  private:
    void collect(const Part& part) {
        const Block block = table_.block<double>(part, memory_);
        const int count = static_cast<int>(views_.size());
        const int64_t n = block.n;
        out_.resize(static_cast<size_t>(3 * count * n));
        kernels.leaf_views(trees_, likelihoods_, block, wanted_, count, out_.data(), scratch_);
        for (int v = 0; v < count; ++v) {
            const double* reach = out_.data() + v * n;
            const double* share = reach + count * n;
            const double* other = share + count * n;
            for (int64_t b = 0; b < n; ++b) {
                if (!table_.is_row(part.start + b) || !(share[b] > log_share_)) continue;
                of_chunk_[v].place.push_back(part.start + b);
                of_chunk_[v].reach.push_back(reach[b]);
                of_chunk_[v].other.push_back(other[b]);
            }
        }
    }

    const Table& table_;
    const Plan& plan_;
    const Trees& trees_;
    const Likelihoods& likelihoods_;
    double log_share_;
    const int64_t* wanted_;
    std::vector<View>& views_;
    std::vector<View> of_chunk_;
    std::vector<double> out_;
    BlockMemory memory_;
    Scratch scratch_;
};

// For each wanted leaf of one tree, the rows that it holds more than a share of: tuples of places in the table, log
// membership, and the log joint of all other leaves.
inline nb::list leaf_views(const Table& table, In<double, 3> hyperplanes, In<int64_t, 2> children,
                           In<double, 3> parameters, In<int64_t, 1> leaves, double log_share, int threads) {
    const SoftenedTrees softened(table, checked_trees(table, hyperplanes, children));
    const Trees& trees = softened.trees;
    require_parameters(table, trees, parameters);
    const LikelihoodTable likelihood_table(table, trees, parameters.data());
    require(trees.c == 1, "views are those of one tree");
    for (size_t v = 0; v < leaves.size(); ++v)
        require(leaves.data()[v] >= 0 && leaves.data()[v] < trees.leaves(), "there is no such leaf");
    std::vector<View> views(leaves.size());
    {
        nb::gil_scoped_release release;
        const int64_t floats = trees.width + table.n_factors() + 5 * trees.leaves();
        const Plan plan = table.plan(block_rows(floats));
        in_order(plan.n_chunks(), threads, [&] {
            return ViewCollector(table, plan, trees, likelihood_table.likelihoods, log_share, leaves.data(), views);
        });
    }
    nb::list out;
    for (View& view : views)
        out.append(nb::make_tuple(numpy_array(view.place), numpy_array(view.reach), numpy_array(view.other)));
    return out;
}

}  // namespace reticulum
