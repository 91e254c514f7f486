import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { costOf, proportionalMiB, stop } from "../apiserver/subject.ts";
import type { Figures } from "./rows.ts";

const CHILD = resolve(import.meta.dirname, "tenants-child.ts");
/** Milliseconds for what follows the last pod: statuses, events, garbage. */
const SETTLE = 30_000;

/**
 * So many tenants at rest, each with its scheduler and controllers running: what so many seconds cost all processes
 * that serve them.
 */
export async function idleTenants(base: string, sizes: { tenants: number; idleSeconds: number }): Promise<Figures> {
  const state = mkdtempSync(join(base, "tenants-"));
  const child = fork(CHILD, [state], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const next = <T>(): Promise<T> =>
    new Promise((done, reject) => {
      child.once("message", (said) => done(said as T));
      child.once("exit", () => reject(new Error("the server of the tenants ended")));
    });
  const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
  try {
    await next();
    const filled = next<{ readonly workers: readonly number[]; readonly slowest: number }>();
    child.send(sizes.tenants);
    const { workers, slowest } = await filled;
    console.error(`the slowest pod came ${Math.round(slowest)} ms after its Deployment`);
    const processes = [child.pid, ...workers].map((pid) => ({ pid }));
    await pause(SETTLE);
    const before = costOf({ processes });
    await pause(sizes.idleSeconds * 1000);
    const cpuSeconds = costOf({ processes }).cpuSeconds - before.cpuSeconds;
    return { seconds: sizes.idleSeconds, cpuSeconds, memoryMiB: proportionalMiB(processes) };
  } finally {
    await stop(child);
    rmSync(state, { recursive: true, force: true });
  }
}
