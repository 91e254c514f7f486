const FACTOR = 32;
/**
 * Linear work takes about 32 times as long for 32 times as much, and caches may make that a few times more; quadratic
 * work takes 1,024 times as long.
 */
export const LINEAR = 320;

/**
 * How many times as much processor time some work takes for 32 times as much input: the least of several attempts, so
 * that neither a busy machine nor the compiler's warm-up counts.
 */
export function growthOf<T>(make: (size: number) => T, work: (input: T) => unknown, size: number): number {
  const [small, large] = [make(size), make(FACTOR * size)];
  const least = (input: T): number =>
    Math.min(
      timeOf(() => work(input)),
      timeOf(() => work(input)),
    );
  return least(large) / Math.max(least(small), MEASURABLE);
}

/** Less processor time than this, in microseconds, counts as this much. */
const MEASURABLE = 300;
/**
 * Some kernels count processor time in ticks of ten milliseconds, so only the sum of as many microseconds as this says
 * anything.
 */
const SPAN = 40_000;
const MAXIMUM_REPEATS = 10_000;

/** Microseconds that `work` takes, on average of as many repeats as it takes to measure them. */
function timeOf(work: () => unknown): number {
  // Of this thread alone: tests of other files run in others.
  const before = process.threadCpuUsage();
  for (let repeats = 1; ; repeats += 1) {
    work();
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= SPAN || repeats === MAXIMUM_REPEATS) return (user + system) / repeats;
  }
}
