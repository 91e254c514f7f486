import { readFileSync } from "node:fs";

/** Milliseconds, without those that a process waited for a processor: a busy machine makes nothing late. */
export function ownTime(pid: number | "self"): number {
  try {
    const [, waited] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return performance.now() - Number(waited) / 1e6;
  } catch {
    return performance.now();
  }
}

/** Calls back after so many milliseconds of a process' own time; what it returns ends the wait. */
export function afterOwnTime(pid: number | "self", timeout: number, late: () => void): () => void {
  const start = ownTime(pid);
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    const left = timeout - (ownTime(pid) - start);
    if (left > 0) timer = setTimeout(wait, left + 1);
    else late();
  };
  wait();
  return () => clearTimeout(timer);
}
