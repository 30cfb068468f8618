// Sums over the blocks of a table, in threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "table.hpp"
#include "threads.hpp"

namespace reticulum {

// Where a request adds a sum, and how many numbers it has.
struct Total {
    double* to;
    int64_t size;
};

struct ChunkSums {
    std::vector<double> numbers;
};

// One thread's part in a request: sums up a chunk in memory of its own, then adds it to the totals.
template <typename Real, typename AddBlock>
class BlockAdder {
  public:
    BlockAdder(const Table& table, const Plan& plan, const std::vector<Total>& totals, AddBlock& add_block)
        : table_(table), plan_(plan), totals_(totals), add_block_(add_block), scratch_(kept_by_thread<Scratch>()) {
        for (const Total& total : totals) size_ += total.size;
        std::vector<double>& numbers = kept_by_thread<ChunkSums>().numbers;
        if (static_cast<int64_t>(numbers.size()) < size_ + kPad) numbers.resize(size_ + kPad);
        double* at = aligned(numbers.data());
        for (const Total& total : totals) {
            sums_.push_back(at);
            at += total.size;
        }
    }

    void work(int64_t chunk) {
        std::fill_n(sums_[0], size_, 0.0);
        for (size_t p = plan_.chunks[chunk]; p < plan_.chunks[chunk + 1]; ++p) {
            const Part& part = plan_.parts[p];
            add_block_(table_.block<Real>(part, memory_), part.start, sums_.data(), scratch_);
        }
    }

    void add(int64_t) {
        for (size_t i = 0; i < totals_.size(); ++i)
            for (int64_t j = 0; j < totals_[i].size; ++j) totals_[i].to[j] += sums_[i][j];
    }

  private:
    const Table& table_;
    const Plan& plan_;
    const std::vector<Total>& totals_;
    AddBlock& add_block_;
    Scratch& scratch_;
    int64_t size_ = 0;
    std::vector<double*> sums_;
    BlockMemory memory_;
};

// Calls add_block(block, place of its first row, sums, scratch) for all blocks of a plan, and adds to the totals what
// it adds to the sums, which lie in the order of the totals.
template <typename Real, typename AddBlock>
void sum_blocks(const Table& table, const Plan& plan, int threads, const std::vector<Total>& totals,
                AddBlock add_block) {
    in_order(plan.n_chunks(), threads, [&] { return BlockAdder<Real, AddBlock>(table, plan, totals, add_block); });
}

}  // namespace reticulum
