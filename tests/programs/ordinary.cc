// C++ as it is written every day: containers, algorithms, smart pointers, virtual calls, lambdas and
// templates.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

static unsigned random_state = 1;

static unsigned next_random() {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

static std::string random_text(int words) {
  std::string text;
  for (int i = 0; i < words; i++) {
    unsigned word = next_random() % 300;
    for (word = word * word / 300 + 7; word; word /= 5) text += "etaoi"[word % 5];
    text += next_random() % 9 ? ' ' : '\n';
  }
  return text;
}

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual std::string name() const { return "shape"; }
};
struct Square : Shape {
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  std::string name() const override { return "square"; }
  double side;
};
struct Circle : Shape {
  explicit Circle(double radius) : radius(radius) {}
  double area() const override { return 3.14 * radius * radius; }
  double radius;
};

template <typename T, int N>
struct Matrix {
  T cells[N][N];
  T& at(int row, int column) { return cells[row][column]; }
  const T& at(int row, int column) const { return cells[row][column]; }
  Matrix operator*(const Matrix& other) const {
    Matrix product{};
    for (int i = 0; i < N; i++)
      for (int k = 0; k < N; k++)
        for (int j = 0; j < N; j++) product.at(i, j) += at(i, k) * other.at(k, j);
    return product;
  }
};

template <typename T, int N>
static T trace(int power) {
  Matrix<T, N> matrix{}, result{};
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) matrix.at(i, j) = T((i * 7 + j * 3) % 5) / T(8);
  result = matrix;
  for (int i = 0; i < power; i++) result = result * matrix;
  T sum{};
  for (int i = 0; i < N; i++) sum += result.at(i, i);
  return sum;
}

class Graph {
 public:
  explicit Graph(int nodes) : edges_(nodes) {}
  void connect(int from, int to, int weight) { edges_[from].push_back({to, weight}); }
  long distances(int from) const {
    std::vector<long> best(edges_.size(), -1);
    std::vector<std::pair<long, int>> heap{{0, from}};
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      auto [distance, node] = heap.back();
      heap.pop_back();
      if (best[node] >= 0) continue;
      best[node] = distance;
      for (const auto& edge : edges_[node])
        if (best[edge.to] < 0) {
          heap.emplace_back(distance + edge.weight, edge.to);
          std::push_heap(heap.begin(), heap.end(), std::greater<>());
        }
    }
    return std::accumulate(best.begin(), best.end(), 0L);
  }

 private:
  struct Edge {
    int to, weight;
  };
  std::vector<std::vector<Edge>> edges_;
};

int main() {
  const int n = 400;
  std::istringstream stream(random_text(n * 10));
  std::map<std::string, int> counts;
  std::unordered_map<std::string, std::vector<size_t>> places;
  std::string word;
  for (size_t place = 0; stream >> word; place++) {
    counts[word]++;
    places[word].push_back(place);
  }
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < n; i++) {
    if (next_random() % 3)
      shapes.push_back(std::make_unique<Square>(i % 17));
    else
      shapes.push_back(std::make_unique<Circle>(i % 13));
  }
  std::stable_sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) { return a->area() < b->area(); });
  double sum = 0;
  for (const auto& shape : shapes) sum += shape->area() + shape->name().size();
  std::function<long(long)> collatz = [&](long value) {
    return value <= 1 ? 0 : 1 + collatz(value % 2 ? 3 * value + 1 : value / 2);
  };
  long steps = 0;
  for (int i = 1; i < n; i++) steps += collatz(i);
  Graph graph(n);
  for (int i = 0; i < 5 * n; i++) graph.connect(next_random() % n, next_random() % n, 1 + next_random() % 100);
  printf("%zu %s %.0f %ld %ld %.3f %ld\n", places[sorted[0].first].size(), sorted[1].first.c_str(), sum, steps,
         graph.distances(0), trace<double, 8>(n / 10), trace<long, 12>(n / 40));
  return 0;
}
