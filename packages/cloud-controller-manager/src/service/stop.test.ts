/**
 * A request that many reconciles share has no signal of its own: a reconcile that is cancelled must not wait for its
 * retries.
 */
import { expect, test } from "vitest";
import { systemClock } from "@causeway/foundation";
import type { Cloud, CloudWatch } from "@causeway/openstack";
import { OctaviaReader } from "@causeway/octavia-tree";
import { Leftovers } from "./security-group/leftovers.ts";

const never = (): Promise<never> => new Promise(() => {});
const silent = {
  projectId: never,
  describe: never,
  loadBalancing: { providers: { all: never } },
} as unknown as Cloud;
const unsynced = { securityGroups: { synced: false } } as unknown as CloudWatch;

test.each([
  ["what Octavia is", (signal: AbortSignal) => new OctaviaReader(silent, systemClock).facts(signal)],
  ["groups of earlier times", (signal: AbortSignal) => new Leftovers(silent, unsynced).has("lb-sg-a", signal)],
] as const)("a wait for %s ends with its reconcile", async (_, wait) => {
  const stopping = new AbortController();
  const waiting = wait(stopping.signal);
  stopping.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});
