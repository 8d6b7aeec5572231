# What CPython is trained with: a text's words, objects that call each other, numbers, parsing and JSON.
import heapq
import json
import random
import re
import sys

random.seed(1)
SIZE = int(sys.argv[1])


class Task:
    def __init__(self, number, priority):
        self.number, self.priority, self.left = number, priority, 3 + number % 5

    def step(self):
        self.left -= 1
        return self.left > 0

    def __lt__(self, other):
        return self.priority < other.priority


class Urgent(Task):
    def step(self):
        return super().step() and self.number % 7 != 0


def schedule(count):
    """Objects, methods, inheritance and a heap."""
    queue = [(Urgent if n % 3 == 0 else Task)(n, random.random()) for n in range(count)]
    heapq.heapify(queue)
    steps = 0
    while queue:
        task = heapq.heappop(queue)
        steps += 1
        if task.step():
            task.priority += 1.0
            heapq.heappush(queue, task)
    return steps


def text(count):
    """Strings, dictionaries and sorting."""
    syllables = ["ka", "lo", "mi", "ren", "su", "tor", "vi", "we"]
    words = ["".join(random.choices(syllables, k=random.randint(1, 3))) for _ in range(count)]
    frequency = {}
    for word in words:
        frequency[word] = frequency.get(word, 0) + 1
    ranked = sorted(frequency.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{word:>12}: {number}" for word, number in ranked]
    found = re.findall(r"\b(?:ka|lo)\w*?mi\b", " ".join(words))
    return len("\n".join(lines)), len(found)


def sieve(limit):
    """Integers and lists."""
    is_prime = [True] * limit
    for n in range(2, int(limit ** 0.5) + 1):
        if is_prime[n]:
            for multiple in range(n * n, limit, n):
                is_prime[multiple] = False
    return sum(1 for n in range(2, limit) if is_prime[n])


def orbits(steps):
    """Floating-point numbers."""
    bodies = [[0.0, 0.0, 0.0, 0.0, 39.5], [1.0, 0.0, 0.0, 6.2, 0.04], [5.2, 0.0, 0.0, 2.7, 0.02]]
    for _ in range(steps):
        for i, one in enumerate(bodies):
            for other in bodies[i + 1:]:
                dx, dy = one[0] - other[0], one[1] - other[1]
                force = 0.001 / (dx * dx + dy * dy) ** 1.5
                one[2] -= dx * other[4] * force
                one[3] -= dy * other[4] * force
                other[2] += dx * one[4] * force
                other[3] += dy * one[4] * force
        for body in bodies:
            body[0] += 0.001 * body[2]
            body[1] += 0.001 * body[3]
    return round(bodies[1][0], 9)


def evaluate(expression):
    """A recursive parser, with exceptions."""
    tokens = re.findall(r"\d+|[-+*/()]", expression)

    def factor():
        token = tokens.pop(0)
        if token == "(":
            value = total()
            tokens.pop(0)
            return value
        return int(token)

    def product():
        value = factor()
        while tokens and tokens[0] in "*/":
            try:
                value = value * factor() if tokens.pop(0) == "*" else value // factor()
            except ZeroDivisionError:
                value = 0
        return value

    def total():
        value = product()
        while tokens and tokens[0] in "+-":
            value = value + product() if tokens.pop(0) == "+" else value - product()
        return value

    return total()


def documents(count):
    """JSON there and back."""
    rows = [{"id": n, "name": f"row {n}", "tags": ["a", "b"] * (n % 3), "ratio": n / 7} for n in range(count)]
    return len(json.dumps(json.loads(json.dumps(rows))))


print(schedule(SIZE), text(3 * SIZE), sieve(10 * SIZE), orbits(SIZE // 2))
print(sum(evaluate("(7 + 3 * 12) / (4 - 2 * 2) - 15 * (2 + 9)") for _ in range(SIZE // 10)), documents(SIZE // 10))
