"""An interpreter of arithmetic, a dictionary of words, a tree of objects, JSON and sorting with a key."""
import collections
import json
import random
import re

random.seed(11)
TOKEN = re.compile(r"\s*(?:(\d+)|(.))")


class Parser:
    def __init__(self, text):
        self.tokens = [(number, sign) for number, sign in TOKEN.findall(text)] + [("", "")]
        self.at = 0

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def factor(self):
        number, sign = self.take()
        if number:
            return int(number)
        value = self.expression()
        assert sign == "(" and self.take()[1] == ")"
        return value

    def term(self):
        value = self.factor()
        while self.tokens[self.at][1] in ("*", "%"):
            sign, other = self.take()[1], self.factor()
            value = value * other if sign == "*" else value % (other or 1)
        return value

    def expression(self):
        value = self.term()
        while self.tokens[self.at][1] in ("+", "-"):
            value = value + self.term() if self.take()[1] == "+" else value - self.term()
        return value


def text(depth):
    if depth == 0:
        return str(random.randrange(1, 99))
    return f"({text(depth - 1)}{random.choice('+-*%')}{text(depth - 1)})"


class Shape:
    def __init__(self, parts):
        self.parts = parts

    def size(self):
        return 1 + sum(part.size() for part in self.parts)


class Leaf(Shape):
    def size(self):
        return 1


def shapes(depth):
    return Shape([shapes(depth - 1) for _ in range(3)]) if depth else Leaf([])


words = ["".join(random.choices("etaoin", k=4)) for _ in range(30000)]
count = collections.Counter(words)
again = json.loads(json.dumps({word: [n, word.upper()] for word, n in count.items()}))
order = sorted(again, key=lambda word: (-again[word][0], word))
total = sum(Parser(text(7)).expression() % 1000 for _ in range(60))
print(total, order[:3], shapes(8).size(), sum(1 for a in range(300) for b in range(a, 300) if (a * a + b * b) % 97 == 0))
