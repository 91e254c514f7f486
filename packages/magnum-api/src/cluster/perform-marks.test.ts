/** Marks of machines that go first: the group becomes smaller only after them. */
import { expect, it } from "vitest";
import { allKinds, annotations, labels, Machine, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { CausewayError } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { ownMark } from "./names.ts";
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

it("a mark of another controller is not replaced by one that was planned before it", async () => {
  const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  try {
    const using = { client, credentials: { revoke: async () => undefined } };
    const key = { namespace: "default", name: "a" };
    const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "a" };
    const planned = await client.create(Machine, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Machine",
      metadata: { ...key, labels: { [labels.clusterName]: "web" } },
      spec: { clusterName: "web", bootstrap: { dataSecretName: "none" }, infrastructureRef },
    } as Machine);
    const marked = (mark: string | null) =>
      client.patch(Machine, key, {
        type: "merge",
        body: { metadata: { annotations: { [annotations.deleteMachine]: mark } } },
      });
    const mark = (machine: Machine) => perform(using, { type: "mark-machine", name: "a", machine }, observed, never);
    const found = async () => (await client.get(Machine, key)).metadata.annotations?.[annotations.deleteMachine];
    await marked("autoscaler");
    await expect(mark(planned)).rejects.toMatchObject({ code: "KUBERNETES_CONFLICT" });
    expect(await found()).toBe("autoscaler");
    await mark(await marked(null));
    expect(await found()).toBe(ownMark);
  } finally {
    await client.close();
    await server.close();
  }
});
