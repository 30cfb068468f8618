// Threads that work on requests, in chunks whose results are added in order.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace reticulum {

// How often a thread looks for what it waits for before it goes to sleep: for about a tenth of a millisecond.
constexpr int kSpins = 200;

// Spins for a moment: what happens at once is seen sooner than a sleeping thread can be woken. Returns whether the
// condition holds.
template <typename Condition>
bool spin_until(Condition condition) {
    for (int spin = 0; spin < kSpins; ++spin) {
        if (condition()) return true;
        // Where there are more threads than cores, the thread that is waited for may need the core of this one.
        std::this_thread::yield();
    }
    return condition();
}

// Threads that help the one that owns them with one request after another. They are kept, because to start threads, and
// to fill their memory with zeros, takes as long as a pass over few rows.
class Threads {
  public:
    Threads() = default;
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

    ~Threads() {
        for (auto& helper : helpers_) {
            if (is_here()) {
                call(*helper, nullptr);
                helper->thread.join();
            } else {
                // The threads of a process that was forked stay behind: there is nothing to wait for.
                helper.release();
            }
        }
    }

    // The helpers of the calling thread. A process that was forked starts its own.
    static Threads& of_caller() {
        thread_local std::optional<Threads> threads;
        if (!threads || !threads->is_here()) threads.emplace();
        return *threads;
    }

    // Calls `work`, which must not throw, in so many threads, the calling one among them, and returns when all calls
    // have returned.
    void run(int threads, const std::function<void()>& work) {
        start(threads - 1);
        const int called = std::min(threads - 1, static_cast<int>(helpers_.size()));
        busy_.store(called, std::memory_order_relaxed);
        for (int helper = 0; helper < called; ++helper) call(*helpers_[helper], &work);
        work();
        const auto are_done = [&] { return busy_.load(std::memory_order_acquire) == 0; };
        if (spin_until(are_done)) return;
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

    // Starts threads until there are so many helpers.
    void start(int wanted) {
        try {
            helpers_.reserve(static_cast<size_t>(std::max(wanted, 0)));
            while (static_cast<int>(helpers_.size()) < wanted) {
                auto helper = std::make_unique<Helper>();
                helper->thread = std::thread([this, started = helper.get()] { help(*started); });
                helpers_.push_back(std::move(helper));
            }
        } catch (...) {
            // The system gives no more threads: those that started, and the calling one, do the work.
        }
    }

    // Wakes a helper; without work it ends.
    static void call(Helper& helper, const std::function<void()>* work) {
        {
            std::lock_guard<std::mutex> lock(helper.mutex);
            helper.work = work;
            helper.calls.fetch_add(1, std::memory_order_release);
        }
        helper.called.notify_one();
    }

    void help(Helper& helper) {
        for (uint64_t seen = 0;; ++seen) {
            const auto is_called = [&] { return helper.calls.load(std::memory_order_acquire) != seen; };
            if (!spin_until(is_called)) {
                std::unique_lock<std::mutex> lock(helper.mutex);
                helper.called.wait(lock, is_called);
            }
            if (!helper.work) return;
            (*helper.work)();
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

// Works through chunks in so many threads: each makes a worker and calls `work` with one chunk after another. `add` is
// called for one chunk at a time and in the order of the chunks, so that sums do not depend on the number of threads.
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
    Threads::of_caller().run(threads, [&] {
        try {
            int64_t chunk = taken.fetch_add(1, std::memory_order_relaxed);
            if (chunk >= chunks) return;
            auto worker = make_worker();
            for (; chunk < chunks && !has_failed; chunk = taken.fetch_add(1, std::memory_order_relaxed)) {
                worker.work(chunk);
                const auto is_next = [&] { return added.load(std::memory_order_acquire) == chunk || has_failed; };
                if (!spin_until(is_next)) {
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

// Calls a function with each number below `count`, in so many threads; each thread makes its own function.
template <typename Work>
void for_each_number(int64_t count, int threads, Work make_function) {
    struct Worker {
        decltype(make_function()) work;
        void add(int64_t) {}
    };
    in_order(count, threads, [&] { return Worker{make_function()}; });
}

// Memory that the calling thread keeps, one of each type: pages that are handed back at once have to be filled with
// zeros again.
template <typename Memory>
Memory& kept_by_thread() {
    thread_local Memory memory;
    return memory;
}

}  // namespace reticulum
