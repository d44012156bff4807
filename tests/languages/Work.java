// Recursion, virtual calls, exceptions and strings: interpreted first, then compiled. `rec` is never part of another function.
public class Work {
    interface Shape {
        int area(int scale);
    }

    static class Round implements Shape {
        public int area(int scale) {
            return 3 * scale;
        }
    }

    static class Square implements Shape {
        public int area(int scale) {
            return scale * scale;
        }
    }

    static int rec(int n) {
        return n == 0 ? 0 : 1 + rec(n - 1);
    }

    static int middle(int n) {
        return rec(n) + rec(n / 2);
    }

    static int attempt(int n) {
        try {
            if (n % 3 == 0) throw new IllegalStateException("third");
            return middle(n % 20);
        } catch (IllegalStateException e) {
            return 1;
        }
    }

    public static void main(String[] words) {
        final Shape[] shapes = {new Round(), new Square()};
        int sum = 0;
        for (int i = 0; i < Integer.parseInt(words[0]); i++) sum += attempt(i) + shapes[i & 1].area(i % 7);
        System.out.println(sum);
    }
}
