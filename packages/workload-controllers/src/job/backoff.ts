import type { Pod } from "@causeway/kubernetes";
import { finishedAt } from "./pod-facts.ts";

const FIRST = 10_000;
const LONGEST = 600_000;

/** When a pod may be created after so many failures in a row: 10 s after the last one, doubling, 10 minutes at most. */
export function retryAt(failures: number, lastFailure: number): number {
  if (failures === 0) return 0;
  return lastFailure + Math.min(LONGEST, FIRST * 2 ** Math.min(failures - 1, 10));
}

/** When the next pod of a Job may be created: failures after the last success count. */
export function nextCreation(succeeded: readonly Pod[], failed: readonly Pod[]): number {
  const success = Math.max(-1, ...succeeded.map(finishedAt));
  const failures = failed.map(finishedAt).filter((at) => at > success);
  return retryAt(failures.length, Math.max(0, ...failures));
}
