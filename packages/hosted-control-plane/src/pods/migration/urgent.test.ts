import { silentLog } from "@causeway/foundation";
import { expect, test } from "vitest";
import { MovingCluster } from "../testing/moving-cluster.ts";
import { FROZEN_AGAIN, mayBeFrozen, withShortPauses } from "./urgent.ts";

const signal = new AbortController().signal;
const key = { namespace: "", name: "default.web" };
const fails = () => Promise.reject(new Error("the shared etcd does not respond"));

test("a reconcile that fails is repeated soon while writes are refused, and by the queue otherwise", async () => {
  const pauses = (isFrozen: boolean) => withShortPauses(fails, { isFrozen: () => isFrozen, log: silentLog });
  for (let attempt = 0; attempt < 20; attempt++)
    expect(await pauses(true)(key, signal)).toEqual({ after: FROZEN_AGAIN });
  await expect(pauses(false)(key, signal)).rejects.toThrowError(/does not respond/);
  await expect(pauses(true)(key, AbortSignal.abort())).rejects.toThrowError(/does not respond/);
});

test.each([
  ["Copying", undefined, false],
  ["Freezing", undefined, true],
  ["Switching", { attempt: 1, copied: true }, true],
  ["Returning", undefined, true],
  ["Returning", { attempt: 1, thawed: "Freezing" }, true],
  ["Returning", { attempt: 1, thawed: "Returning" }, false],
  ["Retained", undefined, false],
] as const)("in stage %s with the memory %o writes may be refused: %s", (stage, memory, expected) => {
  const cluster = new MovingCluster();
  const record = JSON.stringify({ stage, attempt: 1, revision: 1, members: 1 });
  const metadata = { namespace: "here", name: "datastore-migration" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { record } };
  cluster.live.set("ConfigMap/datastore-migration", object);
  expect(mayBeFrozen(cluster, memory)).toBe(expected);
});
