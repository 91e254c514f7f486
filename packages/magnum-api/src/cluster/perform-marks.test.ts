/** Marks of machines that go first: the group becomes smaller only after them. */
import { expect, it } from "vitest";
import type { Machine } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { perform } from "./perform.ts";

const never = new AbortController().signal;
const machine = { metadata: { namespace: "n", name: "A", resourceVersion: "1" } } as Machine;
const observed = { object: { metadata: { namespace: "n", name: "web" } } } as Observed;

it.each([
  ["a mark fails where the machine has changed", "mark-machine", "KUBERNETES_CONFLICT", "fails"],
  ["a mark fails that is refused as invalid", "mark-machine", "KUBERNETES_INVALID", "fails"],
  ["a mark of a machine that is gone is done", "mark-machine", "KUBERNETES_NOT_FOUND", "done"],
  ["the removal of a mark fails on a conflict", "unmark-machine", "KUBERNETES_CONFLICT", "fails"],
  ["the removal of a mark that another replaced is done", "unmark-machine", "KUBERNETES_INVALID", "done"],
  ["the removal of a mark of a machine that is gone is done", "unmark-machine", "KUBERNETES_NOT_FOUND", "done"],
] as const)("%s", async (_, type, code, expected) => {
  const patch = async () => {
    throw new CausewayError(code, "refused");
  };
  const using = { client: { patch } as unknown as KubernetesClient, credentials: { revoke: async () => undefined } };
  const performed = perform(using, { type, name: "A", machine }, observed, never);
  if (expected === "fails") await expect(performed).rejects.toMatchObject({ code });
  else await expect(performed).resolves.toBeUndefined();
});
