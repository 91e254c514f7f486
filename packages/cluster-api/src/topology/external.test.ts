import { expect, test, vi } from "vitest";
import { allKinds, type Cluster, type ClusterClass } from "@causeway/api";
import { VirtualClock } from "@causeway/foundation";
import { NamedCallFailed, type NamedCall, type NamedCalls } from "../runtime/named-calls.ts";
import { createKindTable } from "../contract/kind-table.ts";
import { classTemplates, clusterClass, topologyCluster } from "../testing/class-manifests.ts";
import { classVariables } from "../variables/class-variables.ts";
import { VariableEvaluation } from "../variables/evaluation.ts";
import { ruleBudget } from "../variables/rules.ts";
import { blueprintOf } from "./blueprint.ts";
import { desiredState } from "./desired.ts";
import { desiredWithExtensions } from "./external.ts";
import type { GeneratedPatch } from "./generated.ts";
import type { CurrentState } from "./model.ts";
import { noHooks } from "./hooks.ts";
import { plan } from "./plan.ts";
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
      { calls: calls(() => response), skipped: kept, clock: new VirtualClock() },
      inputOf(clusterOf(spec), { patches: [external("p")], variables: [] }),
      signal,
    );
  const exists = { infrastructureRef };
  const heldBack = /failed to generate patches for patch "p": .*"p\.ext" cannot be reached.*nothing of the Cluster/;
  await expect(desired(exists)).rejects.toThrow(heldBack);
  // One that is made meanwhile continues to its end.
  expect((await desired()).workers).toHaveLength(1);
  expect((await desired(exists)).workers).toHaveLength(1);
  // It has the patch once there was a response, and another process does not know that it ever was without.
  await expect(desired(exists, new SkippedPatches())).rejects.toThrow(heldBack);
  response = { status: "Success", items: [] };
  await desired(exists);
  response = undefined;
  await expect(desired(exists)).rejects.toThrow(heldBack);
});

test("variables are judged once for all passes over the patches, within one budget", async () => {
  const rule = { type: "string" as const, "x-kubernetes-validations": [{ rule: "self.matches('^a+$')" }] };
  const variables = [{ name: "a", required: true, schema: { openAPIV3Schema: rule } }];
  const spent = async (patches: number) => {
    const names = Array.from({ length: patches }, (_, at) => external(`p${at}`));
    const input = inputOf(
      clusterOf({
        topology: {
          ...topologyCluster().spec.topology,
          classRef: { name: "class" },
          version: "v1.34.0",
          variables: [{ name: "a", value: "aaaa" }],
          controlPlane: { variables: { overrides: [{ name: "a", value: "aa" }] } },
        },
      }),
      { patches: names, variables },
    );
    const budget = ruleBudget();
    const { left } = budget;
    const judged = new VariableEvaluation(classVariables(input.blueprint.class), budget);
    await desiredWithExtensions(
      {
        calls: calls(() => ({ status: "Success", items: [] })),
        skipped: new SkippedPatches(),
        clock: new VirtualClock(),
      },
      { ...input, variables: judged },
      signal,
    );
    return left - budget.left;
  };
  // The first run also pays for reading the constant expression.
  await spent(0);
  const once = await spent(0);
  expect(once).toBeGreaterThan(0);
  expect(await spent(16)).toBe(once);
});

test("the passes of one Cluster share one judgement of its variables", async () => {
  const judged = vi.spyOn(VariableEvaluation.prototype, "cluster");
  const input = inputOf(clusterOf(), { patches: [external("p"), external("q")], variables: [] });
  const context = {
    calls: calls(() => ({ status: "Success", items: [] })),
    skipped: new SkippedPatches(),
    clock: new VirtualClock(),
  };
  await desiredWithExtensions(context, input, signal);
  expect(judged.mock.contexts).toHaveLength(3);
  expect(new Set(judged.mock.contexts).size).toBe(1);
  judged.mockRestore();
});

test("generated patches are grouped by template once, not searched for each template", async () => {
  const workers = Array.from({ length: 30 }, (_, at) => ({ class: "default-worker", name: `md-${at}`, replicas: 1 }));
  let reads = 0;
  /** Patches whose uid is counted when it is read. */
  const counted = (list: readonly GeneratedPatch[]) =>
    list.map((one) => ({
      ...one,
      get uid() {
        reads += 1;
        return one.uid;
      },
    }));
  const made = topologyCluster(workers);
  const input = inputOf(
    { ...made, metadata: { ...made.metadata, namespace, uid: "u" } },
    { patches: [external("p")], variables: [] },
  );
  const { items } = desiredState({ ...input, patches: 0 }).patcher;
  const patch = { spec: { template: { metadata: {} } } };
  const list = items.map(({ uid }): GeneratedPatch => ({ uid, type: "JSONMergePatch", patch }));
  const { patcher } = desiredState({ ...input, generated: new Map([["p", counted(list)]]) });
  for (const { object } of patcher.items) expect(object).toMatchObject({ spec: { template: { metadata: {} } } });
  expect(reads).toBe(items.length);
});

test("a topology whose extension serves others first keeps its report, and is tried again soon", async () => {
  const busy = () => {
    throw new NamedCallFailed(call, "busy", { why: "busy", again: 5_000 });
  };
  const call = { hook: "GeneratePatches", handler: "p.ext" } as NamedCall;
  const input = inputOf(clusterOf(), { patches: [external("p")], variables: [] });
  const context = { calls: calls(busy), skipped: new SkippedPatches(), clock: new VirtualClock() };
  const failed = desiredWithExtensions(context, input, signal);
  await expect(failed).rejects.toMatchObject({ again: 5_000, isWait: true });
  const before = { condition: { type: "TopologyReconciled", status: "True", reason: "ReconcileSucceeded" } } as const;
  const state = { ...input, differences: new Map(), hooks: { ...noHooks, until: 5_000 } };
  expect(plan({ ...state, before })).toMatchObject({ steps: [], status: before, wait: { until: 5_000 } });
});

test("all calls for a Cluster end by the same time", async () => {
  const clock = new VirtualClock();
  const deadlines: number[] = [];
  const answer: Answer = ({ deadline }) => {
    deadlines.push(deadline);
    return { status: "Success", items: [] };
  };
  const slow = {
    call: async (call: NamedCall) => {
      await clock.advance(7_000);
      return answer(call);
    },
  } as unknown as NamedCalls;
  const start = clock.now();
  const input = inputOf(clusterOf(), { patches: [external("p"), external("q")], variables: [] });
  await desiredWithExtensions({ calls: slow, skipped: new SkippedPatches(), clock }, input, signal);
  expect(deadlines).toEqual([start + 30_000, start + 30_000]);
});
