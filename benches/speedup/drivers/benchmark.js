// Work of several kinds, in proportion to SIZE, which stands before this text.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function sieve(n) {
  const composite = new Uint8Array(n + 1);
  let primes = 0;
  for (let i = 2; i <= n; i++) {
    if (composite[i]) continue;
    primes++;
    for (let j = i * i; j <= n; j += i) composite[j] = 1;
  }
  return primes;
}

class Shape {
  constructor(w, h) { this.w = w; this.h = h; }
  area() { return this.w * this.h; }
}
class Square extends Shape {
  constructor(w) { super(w, w); }
  area() { return super.area() + 1; }
}

function shapes(n) {
  const all = [];
  for (let i = 0; i < n; i++) all.push(i % 3 ? new Shape(i % 17, i % 23) : new Square(i % 19));
  all.sort((a, b) => a.area() - b.area() || a.w - b.w);
  return all.map(s => s.area()).filter(a => a % 2).reduce((a, b) => (a * 31 + b) % 1000003, 7);
}

function strings(n) {
  const counts = new Map();
  let text = "";
  for (let i = 0; i < n; i++) text += `word${i % 97},`;
  for (const word of text.split(",")) counts.set(word, (counts.get(word) || 0) + 1);
  const matches = text.match(/w(or)d\d[3-7]/g).length;
  const changed = text.replace(/(\d)(\d)/g, (all, a, b) => b + a).toUpperCase();
  return changed.length + matches + counts.size + JSON.stringify([...counts.keys()]).length;
}

function objects(n) {
  const table = {};
  for (let i = 0; i < n; i++) {
    const key = "k" + (i * 7919 % 503);
    table[key] = { count: (table[key]?.count ?? 0) + 1, list: [i, i + 1] };
  }
  let sum = 0;
  for (const key in table) { const { count, list: [a] } = table[key]; sum += count * a; }
  return JSON.parse(JSON.stringify(table)).k1.count + sum;
}

function* produce(n) { for (let i = 0; i < n; i++) yield i / 3 | 0; }

function generators(n) {
  let sum = 0;
  for (const value of produce(n)) sum += value & 0xff;
  return sum;
}

function failing(n) {
  let caught = 0;
  for (let i = 0; i < n; i++) {
    try { if (i % 3 === 0) throw new RangeError("no " + i); } catch (error) { caught += error.message.length; }
  }
  return caught;
}

function matrix(n) {
  const a = [], b = [];
  for (let i = 0; i < n; i++) { a.push(Array.from({ length: n }, (x, k) => i + k * 0.5)); b.push(a[i].slice().reverse()); }
  let trace = 0;
  for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) for (let j = 0; j < n; j++) trace += a[i][j] * b[j][k] % 7;
  return trace | 0;
}

[fib(15 + SIZE), sieve(4000 * SIZE), shapes(500 * SIZE), strings(400 * SIZE), objects(400 * SIZE),
  generators(1000 * SIZE), failing(300 * SIZE), matrix(8 + 4 * SIZE)].join(" ");
