#include <map>
#include <string>
#include <vector>
#include <cstdio>
int main(int argc, char **) {
    std::map<std::string, std::vector<int>> m;
    for (int i = 0; i < 9; i++) m["k" + std::to_string((i * argc) % 4)].push_back(i);
    int n = 0;
    for (auto &[k, v] : m) n += k.size() * v.size();
    printf("%d\n", n);
}
