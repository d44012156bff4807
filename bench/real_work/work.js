// Classes, maps, closures, typed arrays, JSON and regular expressions: hot functions are compiled while the program runs.
class Matrix {
  constructor(n, fill) { this.n = n; this.cells = new Float64Array(n * n).map(fill); }
  times(other) {
    return new Matrix(this.n, (_, at) => {
      let sum = 0, row = at - at % this.n, column = at % this.n;
      for (let k = 0; k < this.n; k++) sum += this.cells[row + k] * other.cells[k * this.n + column];
      return sum;
    });
  }
}
class Circle { constructor(r) { this.r = r; } area() { return 3.14159 * this.r * this.r; } }
class Box { constructor(a, b) { this.a = a; this.b = b; } area() { return this.a * this.b; } }
let seed = 3;
const random = n => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff, (seed >> 12) % n);
const shapes = Array.from({ length: 30000 }, () => random(2) ? new Circle(random(9)) : new Box(random(9), random(9)));
const areas = new Map();
for (let turn = 0; turn < 5; turn++)
  for (const shape of shapes) areas.set(shape.constructor.name, (areas.get(shape.constructor.name) || 0) + shape.area());
const words = Array.from({ length: 8000 }, () => "w" + random(500).toString(36));
const counts = words.reduce((all, word) => (all[word] = (all[word] || 0) + 1, all), {});
const copy = JSON.parse(JSON.stringify(Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))));
let letters = 0;
for (const found of words.join(" ").matchAll(/w([0-9]+)([a-z])/g)) letters += found[2].charCodeAt(0);
const product = new Matrix(40, (_, i) => i % 7).times(new Matrix(40, (_, i) => i % 5));
console.log(Math.round(areas.get("Circle")), copy[0], letters, product.cells[123]);
