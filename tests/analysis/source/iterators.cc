#include <vector>
#include <map>
#include <string>
int over_vector(const std::vector<int> &v) {
    int s = 0;
    for (int x : v) s += x;
    return s;
}
int over_iter(const std::vector<int> &v) {
    int s = 0;
    for (auto i = v.begin(); i != v.end(); ++i) s += *i;
    return s;
}
int over_map(const std::map<int, int> &m) {
    int s = 0;
    for (const auto &[k, v] : m) {
        if (k == 2) continue;
        s += v;
    }
    return s;
}
template <class T> T sum(const std::vector<T> &v) {
    T s{};
    for (const T &x : v) s += x;
    return s;
}
int main() {
    std::vector<int> v{1, 2, 3, 4, 5};
    std::map<int, int> m{{1, 2}, {2, 3}, {3, 4}};
    std::vector<double> d{1, 2};
    std::vector<std::string> t{"a", "b", "c"};
    return over_vector(v) + over_iter(v) + over_map(m) + sum(v) + (int)sum(d) + (int)sum(t).size() == 0;
}
