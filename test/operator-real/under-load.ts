/** Changes of a cloud while an API of it is under load. */
import { createInterface } from "node:readline";
import { join } from "node:path";
import { eventually } from "../support/processes.ts";
import { podsOf, statusOf, type Trust } from "./cloud.ts";
import { record } from "./figures.ts";
import { TIMEOUT, type Rig } from "./rig.ts";

export interface LoadResult {
  readonly sent: number;
  readonly seconds: number;
  readonly failures: number;
  readonly slowest: number;
  /** The longest time in which this client itself did not run: what was due then was sent at once. */
  readonly late: number;
  readonly examples: readonly string[];
}

export interface Load {
  readonly url: string;
  readonly perSecond: number;
  readonly token?: string;
  readonly trust?: Trust;
}

/** What became of the requests that were sent while it was done; printed, too. */
export async function underLoad(
  rig: Rig,
  { url, perSecond, token, trust }: Load,
  [what, act]: readonly [string, () => Promise<void>],
): Promise<LoadResult> {
  const program = join(import.meta.dirname, "load.ts");
  const more = trust ? [token ?? "", trust.address, trust.file] : token === undefined ? [] : [token];
  const args = [program, url, String(perSecond), ...more];
  const load = rig.startInNetwork(process.execPath, args);
  const line = new Promise<string>((resolve) => createInterface({ input: load.stdout! }).once("line", resolve));
  try {
    await act();
  } finally {
    load.stdin!.end();
  }
  const result = JSON.parse(await line) as LoadResult;
  const { sent, seconds, failures, slowest, late } = result;
  record(`${what}, ${perSecond} requests a second`, {
    requests: sent,
    seconds: Math.round(seconds),
    failed: failures,
    slowestMilliseconds: Math.round(slowest),
    clientLateMilliseconds: Math.round(late),
  });
  return result;
}

/** Applies a change that replaces the pods of a component, and waits until all of them are other ones. */
export async function roll(rig: Rig, component: string, change: object): Promise<void> {
  const before = podsOf(rig, component);
  rig.apply(change);
  await eventually(TIMEOUT, () => {
    const now = podsOf(rig, component);
    return now.length > 0 && now.every((name) => !before.includes(name)) && statusOf(rig).phase === "Ready";
  });
}
