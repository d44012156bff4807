static int dead;
struct Guard {
    int id;
    explicit Guard(int i) : id(i) {}
    ~Guard() {
        dead++;
    }
};
int f5(int n) {
    Guard a(n);
    if (n % 3 == 1) throw n;
    return n;
}
int f4(int n) {
    Guard a(n);
    Guard b(n);
    return f5(n) + 1;
}
int nothrow(int n) {
    Guard a(n);
    n++;
    return n;
}
void block(int n) {
    {
        Guard a(n);
        n++;
    }
    n--;
}
int loop(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        Guard g(i);
        if (i == 3) continue;
        s += i;
    }
    return s;
}
int fn_try(int n) try { return f5(n); } catch (int) {
    return 4;
}
int main() {
    int s = 0;
    for (int i = 0; i < 6; i++) {
        try {
            s += f4(i);
        } catch (int k) {
            s -= k;
        }
        s += nothrow(i);
        block(i);
        s += fn_try(i);
    }
    return s + loop(6) == dead;
}
