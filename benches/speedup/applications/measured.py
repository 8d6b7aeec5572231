# What CPython is measured with: other programs than those of the training.
import random
import re
import sys
from collections import deque

random.seed(2)
SIZE = int(sys.argv[1])


class Shape:
    scale = 2

    def area(self):
        raise NotImplementedError


class Square(Shape):
    def __init__(self, side):
        self.side = side

    @property
    def outline(self):
        return 4 * self.side

    def area(self):
        return self.side * self.side * self.scale


class Circle(Shape):
    __slots__ = ("radius",)

    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return 3.14159 * self.radius ** 2


def shapes(count):
    """Polymorphic calls, properties and class attributes."""
    made = [Square(n % 9) if n % 2 else Circle(n % 7 / 2) for n in range(count)]
    outlines = sum(shape.outline for shape in made if isinstance(shape, Square))
    return round(sum(shape.area() for shape in made), 3), outlines


def queens(size):
    """Recursive generators and sets."""
    def place(row, columns, left, right):
        if row == size:
            yield 1
            return
        for column in range(size):
            if column not in columns and row - column not in left and row + column not in right:
                yield from place(row + 1, columns | {column}, left | {row - column}, right | {row + column})
    return sum(place(0, frozenset(), frozenset(), frozenset()))


def paths(size):
    """A breadth-first search in a maze of tuples."""
    walls = {(random.randrange(size), random.randrange(size)) for _ in range(size * size // 4)}
    distances, queue = {(0, 0): 0}, deque([(0, 0)])
    while queue:
        x, y = queue.popleft()
        for step in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if 0 <= step[0] < size and 0 <= step[1] < size and step not in walls and step not in distances:
                distances[step] = distances[x, y] + 1
                queue.append(step)
    return len(distances), max(distances.values())


def matrices(size):
    """Nested lists and comprehensions."""
    left = [[(i * j) % 7 + 0.5 for j in range(size)] for i in range(size)]
    right = list(zip(*left))
    product = [[sum(a * b for a, b in zip(row, column)) for column in right] for row in left]
    return sum(map(sum, product))


def pi(digits):
    """Long integers."""
    q, r, t, k, n, l, found = 1, 0, 1, 1, 3, 3, []
    while len(found) < digits:
        if 4 * q + r - t < n * t:
            found.append(n)
            q, r, n = 10 * q, 10 * (r - n * t), 10 * (3 * q + r) // t - 10 * n
        else:
            q, r, t, k, n, l = q * k, (2 * q + r) * l, t * l, k + 1, (q * (7 * k + 2) + r * l) // (t * l), l + 2
    return "".join(map(str, found))[-8:]


def log(count):
    """Lines of a log: formatting, splitting, regular expressions and missing keys."""
    kinds, seen = ["GET /index", "POST /form", "GET /image"], {}
    lines = ["%s %s?id=%d %d" % (n, kinds[n % 3], random.randrange(50), 200 + n % 4) for n in range(count)]
    pattern = re.compile(r"^(\d+) (\w+) (/\w+)\?id=(\d+)")
    for line in lines:
        match = pattern.match(line)
        try:
            seen[match[3], match[4]].append(line.split()[-1])
        except KeyError:
            seen[match[3], match[4]] = [line.upper()]
    return sum(len(values) for values in seen.values()), ",".join(sorted({key[0] for key in seen}))


print(shapes(4 * SIZE), queens(6), paths(SIZE // 20), matrices(SIZE // 60), pi(SIZE // 25), log(SIZE))
