/** Work of the kind that the server does: parsing, copying and writing of objects, with garbage. */
const TEXT = JSON.stringify(
  Array.from({ length: 1500 }, (_, i) => ({
    name: `n${i}`,
    labels: { a: "b", c: String(i) },
    items: [1, 2, { x: i }],
  })),
);

function spent(): number {
  const before = process.cpuUsage();
  for (let round = 0; round < 3; round += 1) JSON.stringify(structuredClone(JSON.parse(TEXT)));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * How much slower the processor is now than at its best: what shares its cores and caches makes the same work take more
 * CPU time, up to twice and more. At least 1.
 */
export class Pace {
  #best = Infinity;

  /** Measures the best pace; the first rounds compile. */
  constructor(rounds = 40) {
    for (let round = 0; round < rounds; round += 1) this.now();
  }

  now(): number {
    const cost = spent();
    this.#best = Math.min(this.#best, cost);
    return cost / this.#best;
  }
}
