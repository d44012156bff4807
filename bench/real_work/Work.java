import java.util.Map;
import java.util.TreeMap;

/** Compiled code that is replaced while it is executed, a thread, an exception made of a fault. */
public class Work {
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    public static void main(String[] words) throws Exception {
        Map<String, Integer> sums = new TreeMap<>();
        for (int i = 0; i < 40000; i++) sums.merge("k" + i % 997, i, Integer::sum);
        long[] hashes = {0};
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 100000; i++) hashes[0] += Integer.toString(i).hashCode();
        });
        thread.start();
        thread.join();
        System.out.println(sums.size() + " " + fib(22) + " " + hashes[0]);
        try {
            Object nothing = null;
            nothing.hashCode();
        } catch (NullPointerException e) {
            System.out.println("null");
        }
    }
}
