const FACTOR = 32;
/** Linear work takes about 32 times as long for 32 times as much, and caches may make that a few times more; quadratic work takes 1,024 times as long. */
export const LINEAR = 320;

/**
 * How many times as much processor time some work takes for 32 times as much input: the least of several attempts, so that neither a busy
 * machine nor the compiler's warm-up counts.
 */
export function growthOf<T>(make: (size: number) => T, work: (input: T) => unknown, size: number): number {
  const [small, large] = [make(size), make(FACTOR * size)];
  for (let i = 0; i < 2; i += 1) work(small);
  const least = (input: T, attempts: number): number =>
    Math.min(...Array.from({ length: attempts }, () => timeOf(() => work(input))));
  return least(large, 2) / Math.max(least(small, 6), MEASURABLE);
}

/** Less processor time than this, in microseconds, is taken for this much. */
const MEASURABLE = 300;

function timeOf(work: () => unknown): number {
  // Of this thread alone: tests of other files run in others.
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
