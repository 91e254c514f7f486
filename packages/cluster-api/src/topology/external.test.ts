import { expect, test } from "vitest";
import { allKinds, type Cluster, type ClusterClass } from "@causeway/api";
import type { NamedCall, NamedCalls } from "../runtime/named-calls.ts";
import { createKindTable } from "../contract/kind-table.ts";
import { classTemplates, clusterClass, topologyCluster } from "../testing/class-manifests.ts";
import { blueprintOf } from "./blueprint.ts";
import { desiredWithExtensions } from "./external.ts";
import type { CurrentState } from "./model.ts";
import { SkippedPatches } from "./skipped-patches.ts";

const namespace = "default";
const kinds = createKindTable(allKinds);
const current: CurrentState = {
  infrastructure: undefined,
  controlPlane: undefined,
  deployments: [],
  pools: [],
  poolObjects: [],
  sets: [],
  machines: [],
  healthChecks: [],
  templates: [],
};
const external = (name: string) => ({ name, external: { generatePatchesExtension: `${name}.ext` } });
const clusterOf = (spec: Partial<Cluster["spec"]> = {}): Cluster => {
  const made = topologyCluster();
  return { ...made, metadata: { ...made.metadata, namespace, uid: "u" }, spec: { ...made.spec, ...spec } };
};
const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name: "demo" };

function inputOf(cluster: Cluster, spec: Partial<ClusterClass["spec"]>) {
  const made = clusterClass("class", spec);
  const blueprint = blueprintOf(
    { ...made, metadata: { ...made.metadata, namespace } },
    ({ apiVersion, kind, name }) => ({
      kind: kinds.find({ apiGroup: apiVersion.split("/")[0] ?? "", kind }),
      object: classTemplates().find((one) => one.kind === kind && one.metadata.name === name),
    }),
  );
  return { cluster, blueprint, current, kinds };
}

type Answer = (call: NamedCall) => Readonly<Record<string, unknown>> | undefined;
const calls = (answer: Answer) =>
  ({ call: (call: NamedCall) => Promise.resolve(answer(call)) }) as unknown as NamedCalls;
const signal = new AbortController().signal;

test("a patch that cannot be had is left out of a Cluster that was begun without it, and of no other", async () => {
  const skipped = new SkippedPatches();
  let response: ReturnType<Answer>;
  const desired = (spec?: Partial<Cluster["spec"]>, kept = skipped) =>
    desiredWithExtensions(
      { calls: calls(() => response), skipped: kept },
      inputOf(clusterOf(spec), { patches: [external("p")], variables: [] }),
      signal,
    );
  const exists = { infrastructureRef };
  const heldBack = /failed to generate patches for patch "p": .*"p\.ext" cannot be reached.*nothing of the Cluster/;
  await expect(desired(exists)).rejects.toThrow(heldBack);
  // One that is made meanwhile goes on to its end.
  expect((await desired()).workers).toHaveLength(1);
  expect((await desired(exists)).workers).toHaveLength(1);
  // It has the patch once there was a response, and another process does not know that it ever was without.
  await expect(desired(exists, new SkippedPatches())).rejects.toThrow(heldBack);
  response = { status: "Success", items: [] };
  await desired(exists);
  response = undefined;
  await expect(desired(exists)).rejects.toThrow(heldBack);
});
