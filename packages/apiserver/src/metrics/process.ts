import { readdirSync, readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

/** What the operating system and the runtime report about this process; undefined where they do not. Bytes, seconds. */
export interface ProcessState {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly virtualBytes: number | undefined;
  readonly startedAt: number;
  readonly openFiles: number | undefined;
  readonly mostFiles: number | undefined;
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
  /** 0 to 1. */
  readonly loopUtilization: number;
}

/** Reads the numbers now; those of /proc only on Linux. */
export function processState(): ProcessState {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: rss,
    virtualBytes: ifReadable(() => Number(readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ")[20])),
    startedAt: performance.timeOrigin / 1000,
    openFiles: ifReadable(() => readdirSync("/proc/self/fd").length),
    mostFiles: ifReadable(() =>
      Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]),
    ),
    heapUsed,
    heapTotal,
    external,
    loopUtilization: performance.eventLoopUtilization().utilization,
  };
}

/** Only Linux has /proc. */
function ifReadable(read: () => number): number | undefined {
  try {
    const value = read();
    return Number.isFinite(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
