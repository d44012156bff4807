"""Functions of random statements of C and C++ (random_lines.py, random_llvm.py)."""

HEADER = """static inline int leaf(int n) { return n * 7 % 5; }
static inline int
two(int a, int b)
{
    if (a > b)
        return a;
    return b;
}
"""
HEADER_CPP = HEADER + """struct Guard {
    int &to;
    explicit Guard(int &n) : to(n) { to++; }
    ~Guard() { to += 2; }
};
template <class T> T twice(T n) {
    if (n > 2)
        return n + n;
    return n;
}
inline int thrower(int n) {
    if (n % 3 == 1)
        throw n;
    return n / 2;
}
template <class T> struct Box {
    T at;
    explicit Box(T n) : at(n) {}
    T get() const {
        if (at > 2)
            return at;
        return at + 1;
    }
    template <class U> T add(U n) { return at += (T)n; }
};
struct Shape {
    virtual ~Shape() {}
    virtual int area(int n) { return n + 1; }
};
struct Square : Shape {
    int side;
    explicit Square(int n) : side(n & 3) {}
    int area(int n) override {
        return side * n;
    }
};
inline int with_lambda(int n) {
    auto f = [n](int x) {
        if (x > n)
            return x;
        return n;
    };
    return f(3);
}
template <int N> int steps(int n) {
    if (n > N)
        return n;
    return steps<N - 1>(n + 1);
}
template <> inline int steps<0>(int n) { return n; }
struct Numbers {
    int at[4] = {3, 1, 4, 1};
    const int *begin() const { return at; }
    const int *end() const { return at + 4; }
};
"""


class Function:
    """Random statements, one source line in each element of `lines`."""
    more = False  # the kinds of Further

    def __init__(self, pick, name, cpp):
        self.pick, self.cpp, self.names, self.lines = pick, cpp, 0, []
        self.loops, self.labels, self.tries = 0, 0, 0
        self.put(0, f"int {name}(int n)" + (" {" if pick.random() < 0.7 else ""))
        if not self.lines[-1].endswith("{"):
            self.put(0, "{")
        self.put(1, "int s = n;")
        self.block(1, 3, pick.randint(3, 6))
        self.put(1, pick.choice(["return s;", "return s > 3 ? s : leaf(s);", "return two(s, leaf(n));"]))
        self.put(0, "}")

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def condition(self):
        return self.pick.choice(["n > 2", "s % 2", "leaf(s) > 1", "n > 1 && leaf(s) < 3", "s & 1 || n == 2", "!(n & 1) && (s > 3 || leaf(n) == 2)"])

    def simple(self):
        texts = ["s += n;", "s = leaf(s + n);", "s ^= two(n, 3);", "s += n & 1 ? leaf(n) : 2;", "s += (n > 2 && s > 1);", "n++;", "s -= leaf(leaf(n)) + two(s, n);"]
        if self.cpp:
            texts += ["s += twice(n);", "s += (int)twice(s * 0.5);", "s += [n](int x) { return x + n; }(s);"]
            if self.more:
                texts += ["s += Guard(s).to & 3;", "s += Box<int>(n).get();", "s += (int)Box<long>(s).add(n);", "s += with_lambda(n);", "s += steps<3>(n & 3);"]
                texts += ["s += thrower(n);"] * (self.tries > 0)
        return self.pick.choice(texts)

    def block(self, depth, levels, count):
        for _ in range(count):
            self.statement(depth, levels)

    def statement(self, depth, levels):
        kinds = ["simple", "simple", "lines", "one_line_if", "early"]
        if self.loops:
            kinds += ["leave", "leave"]
        if levels > 0:
            kinds += ["if", "if_else", "for", "while", "do", "forever", "one_line_loop", "goto", "switch", "scope"] + ["forward"] * self.more
            if self.cpp:
                kinds += ["guard", "guard", "try", "try", "lambda", "range"] + ["handlers", "virtual"] * self.more
        getattr(self, "make_" + self.pick.choice(kinds))(depth, levels - 1)

    def make_simple(self, depth, _):
        self.put(depth, self.simple())

    def make_lines(self, depth, _):
        self.put(depth, "s += two(n,")
        self.put(depth + 2, self.pick.choice(["leaf(s));", "s & 3);", "leaf(n) + leaf(s));"]))

    def make_one_line_if(self, depth, _):
        self.put(depth, f"if ({self.condition()}) {self.simple()}")

    def make_early(self, depth, _):
        self.put(depth, f"if (s > {self.pick.randint(20, 60)})")
        self.put(depth + 1, "return s;")

    def make_leave(self, depth, _):
        self.put(depth, f"if ({self.condition()})")
        self.put(depth + 1, self.pick.choice(["break;", "continue;"]))

    def make_if(self, depth, levels):
        self.put(depth, f"if ({self.condition()}) {{")
        self.block(depth + 1, levels, self.pick.randint(1, 2))
        self.put(depth, "}")

    def make_if_else(self, depth, levels):
        self.put(depth, f"if ({self.condition()}) {{")
        self.block(depth + 1, levels, 1)
        self.put(depth, "} else {")
        self.block(depth + 1, levels, 1)
        self.put(depth, "}")

    def body(self, depth, levels):
        self.loops += 1
        self.block(depth + 1, levels, self.pick.randint(1, 3))
        self.loops -= 1

    def make_for(self, depth, levels):
        i = self.name()
        self.put(depth, f"for (int {i} = 0; {i} < {self.pick.randint(0, 4)}; {i}++) {{")
        self.body(depth, levels)
        self.put(depth, "}")

    def make_while(self, depth, levels):
        i = self.name()
        self.put(depth, f"int {i} = {self.pick.randint(0, 4)};")
        self.put(depth, f"while ({i}-- > 0) {{")
        self.body(depth, levels)
        self.put(depth, "}")

    def make_do(self, depth, levels):
        i = self.name()
        self.put(depth, f"int {i} = {self.pick.randint(1, 4)};")
        self.put(depth, "do {")
        self.body(depth, levels)
        self.put(depth, f"}} while (--{i} > 0);")

    def make_forever(self, depth, levels):
        i = self.name()
        self.put(depth, f"int {i} = 0;")
        self.put(depth, self.pick.choice(["for (;;) {", "while (1) {"]))
        self.put(depth + 1, f"if (++{i} > {self.pick.randint(1, 4)})" + self.pick.choice([" break;", "\n" + "    " * (depth + 2) + "break;"]))
        self.body(depth, levels)
        self.put(depth, "}")

    def make_one_line_loop(self, depth, _):
        i = self.name()
        self.put(depth, self.pick.choice([f"for (int {i} = 0; {i} < 3; {i}++) {self.simple()}", f"int {i} = 3; while ({i}--) s++;", f"int {i} = 2; do s += leaf(s); while (--{i});"]))

    def make_goto(self, depth, _):
        i = self.name()
        self.labels += 1
        self.put(depth, f"int {i} = 0;")
        self.lines.append(f"again{self.labels}:")
        self.put(depth, self.simple())
        self.put(depth, f"if (++{i} < 3)")
        self.put(depth + 1, f"goto again{self.labels};")

    def make_forward(self, depth, levels):
        self.labels += 1
        label = f"skip{self.labels}"
        self.put(depth, f"if ({self.condition()})")
        self.put(depth + 1, f"goto {label};")
        self.put(depth, "{")
        self.block(depth + 1, levels, 1)
        self.put(depth, "}")
        self.lines.append(f"{label}:")
        self.put(depth, self.simple())

    def make_switch(self, depth, _):
        self.put(depth, "switch (n & 3) {")
        for value in range(3):
            self.put(depth, f"case {value}:")
            self.put(depth + 1, self.simple())
            if self.pick.random() < 0.7:
                self.put(depth + 1, "break;")
        self.put(depth, "default:")
        self.put(depth + 1, self.simple())
        self.put(depth, "}")

    def make_scope(self, depth, levels):
        self.put(depth, "{")
        self.put(depth + 1, "int s0 = s;")
        self.block(depth + 1, levels, 1)
        self.put(depth + 1, "s += s0 & 1;")
        self.put(depth, "}")

    def make_guard(self, depth, levels):
        self.put(depth, "{")
        self.put(depth + 1, f"Guard {self.name()}(s);")
        if self.pick.random() < 0.3:
            self.put(depth + 1, f"Guard {self.name()}(n);")
        self.block(depth + 1, levels, self.pick.randint(1, 2))
        self.put(depth, "}")

    def make_try(self, depth, levels):
        self.put(depth, "try {")
        self.tries += 1
        self.block(depth + 1, levels, 1)
        self.tries -= 1
        self.put(depth + 1, "s += thrower(s);")
        self.put(depth, self.pick.choice(["} catch (int e) {", "} catch (...) {"]))
        self.block(depth + 1, 0, 1)
        self.put(depth, "}")

    def make_handlers(self, depth, levels):
        """Several handlers, one of which may throw again."""
        self.put(depth, "try {")
        self.put(depth + 1, "try {")
        self.tries += 1
        self.put(depth + 2, f"Guard {self.name()}(s);")
        self.block(depth + 2, levels, 1)
        self.tries -= 1
        self.put(depth + 2, "s += thrower(s + 1);")
        self.put(depth + 1, "} catch (const char *) {")
        self.put(depth + 2, "s++;")
        self.put(depth + 1, "} catch (int e) {")
        self.put(depth + 2, "if (e > 3)")
        self.put(depth + 3, "throw;")
        self.put(depth + 2, "s += e;")
        self.put(depth + 1, "}")
        self.put(depth, "} catch (...) {")
        self.put(depth + 1, "s--;")
        self.put(depth, "}")

    def make_virtual(self, depth, _):
        one = self.name()
        self.put(depth, f"Square {one}(s);")
        self.put(depth, f"Shape &r{one} = {one};")
        self.put(depth, f"s += r{one}.area(n);")

    def make_lambda(self, depth, _):
        f = self.name()
        self.put(depth, f"auto {f} = [&](int x) {{")
        self.put(depth + 1, "if (x > 3)")
        self.put(depth + 2, "return x - s;")
        self.put(depth + 1, "return x;")
        self.put(depth, "};")
        self.put(depth, f"s += {f}(n);")

    def make_range(self, depth, levels):
        self.put(depth, f"for (int {self.name()} : Numbers()) {{")
        self.body(depth, levels)
        self.put(depth, "}")


class Further(Function):
    """Also temporaries with destructors, several handlers, calls that throw anywhere, virtual functions, members of templates, and goto forward."""
    more = True
