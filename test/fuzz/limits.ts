/** What one input may cost. Small inputs have a floor, under which timer resolution and garbage collection decide. */
const MILLISECONDS_PER_BYTE = 200 / 100_000;
const LEAST_MILLISECONDS = 50;
const GROWTH = 50;
const LEAST_ANSWER = 256 * 1024;
const LEAST_MEMORY = 32 * 1024 * 1024;

export interface Limits {
  /** CPU time of the server's main thread. */
  readonly milliseconds: number;
  /** Bytes of all answers. */
  readonly answer: number;
  /** Growth of the server's resident memory in bytes, at its highest. */
  readonly memory: number;
}

export function limitsOf(bytes: number): Limits {
  return {
    milliseconds: Math.max(LEAST_MILLISECONDS, bytes * MILLISECONDS_PER_BYTE),
    answer: Math.max(LEAST_ANSWER, bytes * GROWTH),
    memory: LEAST_MEMORY + bytes * GROWTH,
  };
}
