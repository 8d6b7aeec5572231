// Work of several kinds in ECMAScript 5, in proportion to `size`.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function sieve(n) {
  var composite = [], primes = 0;
  for (var i = 2; i <= n; i++) {
    if (composite[i]) continue;
    primes++;
    for (var j = i * i; j <= n; j += i) composite[j] = true;
  }
  return primes;
}

function Shape(w, h) { this.w = w; this.h = h; }
Shape.prototype.area = function () { return this.w * this.h; };

function shapes(n) {
  var all = [];
  for (var i = 0; i < n; i++) all.push(new Shape(i % 17, i % 23));
  all.sort(function (a, b) { return a.area() - b.area() || a.w - b.w; });
  return all.map(function (s) { return s.area(); }).reduce(function (a, b) { return (a * 31 + b) % 1000003; }, 7);
}

function strings(n) {
  var text = '', counts = {};
  for (var i = 0; i < n; i++) text += 'word' + i % 97 + ',';
  text.split(',').forEach(function (word) { counts[word] = (counts[word] || 0) + 1; });
  return text.match(/w(or)d\d[3-7]/g).length + text.replace(/(\d)(\d)/g, '$2$1').toUpperCase().length +
    JSON.stringify(JSON.parse(JSON.stringify(counts))).length;
}

function failing(n) {
  var caught = 0;
  for (var i = 0; i < n; i++) {
    try { if (i % 3 === 0) throw new Error('no ' + i); } catch (error) { caught += error.message.length; }
  }
  return caught;
}

[fib(14 + size), sieve(3000 * size), shapes(400 * size), strings(300 * size), failing(200 * size)].join(' ');
