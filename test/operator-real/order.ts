/** When processes started, and when what they need was ready, as the kubelets wrote it. */
import type { OpenStackDeploymentSpec } from "@causeway/api";
import { dependenciesOf } from "@causeway/openstack-operator";
import { NAME } from "./cloud.ts";
import type { Rig } from "./rig.ts";

interface ContainerState {
  readonly running?: { readonly startedAt: string };
  readonly terminated?: { readonly startedAt: string; readonly finishedAt: string; readonly exitCode: number };
}
interface FoundPod {
  readonly metadata: { readonly labels: Record<string, string | undefined> };
  readonly status: {
    readonly conditions?: readonly { type: string; status: string; lastTransitionTime: string }[];
    readonly containerStatuses?: readonly { readonly name: string; readonly state: ContainerState }[];
  };
}

/** Processes that started before something that they need was ready; how many pairs were compared. */
export function startedTooSoon(rig: Rig): { tooSoon: string[]; compared: number } {
  const { items } = rig.get<{ items: FoundPod[] }>("pods", "-l", `openstack.causeway.dev/deployment=${NAME}`);
  const times = new Map<string, { started: string[]; ready: string[] }>();
  for (const { metadata, status } of items) {
    const name = metadata.labels["openstack.causeway.dev/component"] ?? "";
    const { state = {} } = status.containerStatuses?.find((each) => each.name === name) ?? {};
    const of = times.get(name) ?? { started: [], ready: [] };
    times.set(name, of);
    const started = (state.running ?? state.terminated)?.startedAt;
    if (started !== undefined) of.started.push(started);
    if (state.terminated?.exitCode === 0) of.ready.push(state.terminated.finishedAt);
    const isReady = status.conditions?.find((each) => each.type === "Ready" && each.status === "True");
    if (isReady) of.ready.push(isReady.lastTransitionTime);
  }
  const { spec } = rig.get<{ spec: OpenStackDeploymentSpec }>("openstackdeployment", NAME);
  const pairs = [...dependenciesOf(spec)].flatMap(([name, needed]) => needed.map((each) => [name, each] as const));
  const compared = pairs.flatMap(([name, needed]) => {
    const started = times.get(name)?.started.toSorted()[0];
    // Of one that runs on every node the first is enough: the rest is known to the node alone.
    const ready = times.get(needed)?.ready.toSorted()[0];
    return started === undefined || ready === undefined ? [] : [{ name, needed, started, ready }];
  });
  // Times have whole seconds, and the same length: they compare as texts.
  const tooSoon = compared.filter(({ started, ready }) => started < ready);
  return {
    tooSoon: tooSoon.map(({ name, needed, started, ready }) => `${name} ${started}, ${needed} ${ready}`),
    compared: compared.length,
  };
}
