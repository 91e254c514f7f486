import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** The threads of this process as Linux numbers them; 0, the process itself, elsewhere. */
export function threadsOf(): readonly number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [0];
  }
}

/** The nice value of a process that is to come after this one. */
export function niceAfter(by: number): number {
  return Math.min(getPriority() + by, constants.priority.PRIORITY_LOW);
}

/**
 * Gives threads a nice value. On Linux each thread has its own: those of V8, which collect garbage and compile next to
 * the main thread, begin with that of the parent and keep it when the process gets another. Threads that are started
 * later have their starter's.
 */
export function lowerPriority(threads: readonly number[], nice: number): void {
  for (const thread of threads) {
    try {
      setPriority(thread, nice);
    } catch {
      // It ended meanwhile.
    }
  }
}
