// Threads, one at a time, so that all runs count the same; locks, futures, thread-local and shared objects.
#include <atomic>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::atomic<int> events;
static thread_local std::string own = "nobody";

struct Task {
    virtual ~Task() = default;
    virtual int work(int n) = 0;
};

struct Sum : Task {
    int work(int n) override
    {
        int sum = 0;
        for (int i = 0; i < n; i++)
            sum += i;
        return sum;
    }
};

struct Text : Task {
    int work(int n) override
    {
        std::ostringstream out;
        for (int i = 0; i < n; i++)
            out << i << own;
        return int(out.str().size());
    }
};

int main()
{
    std::vector<std::shared_ptr<Task>> tasks{std::make_shared<Sum>(), std::make_shared<Text>()};
    int result = 0;
    for (int i = 0; i < 8; i++) {
        auto task = tasks[i % 3 == 0];
        std::thread([task, i, &result] {
            own = "thread " + std::to_string(i);
            std::lock_guard<std::mutex> guard(lock);
            result += task->work(10 + i);
            events++;
        }).join();
    }
    std::packaged_task<int(int)> later([](int n) { return n * 2; });
    auto future = later.get_future();
    std::thread(std::move(later), 21).join();
    std::cout << result << ' ' << events << ' ' << future.get() << ' ' << own << '\n';
    return events != 8;
}
