/* Templates of the library, inlined into each other until little is left of a function's own code. */
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

int main(int argc, char **) {
    std::map<std::string, std::vector<int>> groups;
    for (int i = 0; i < 300; i++) groups["group " + std::to_string(i % 17)].push_back(i * 7919 % 101 * argc);
    long sum = 0;
    for (auto &[name, values] : groups) {
        std::sort(values.begin(), values.end(), [](int a, int b) { return a > b; });
        sum += values.front() + static_cast<long>(name.size());
        for (int value : values)
            if (value % 3 == 0) sum ^= value;
    }
    std::printf("%ld\n", sum);
    return 0;
}
