import { AddonSet, type MagnumCluster } from "@causeway/api";
import { getCondition, type Condition } from "@causeway/kubernetes";
import { addonSetNameOf } from "@causeway/magnum-api";
import type { MigrationRecord } from "../../record/record.ts";
import type { Tools } from "../../phase.ts";
import type { KubeProxyFacts } from "./plan.ts";

/** The row with kube-proxy as an add-on of the nodes that Causeway makes; the row itself where it has it. */
export function withKubeProxy(cluster: MagnumCluster): MagnumCluster {
  const { spec } = cluster;
  return spec.addons === "KubeProxy" ? cluster : { ...cluster, spec: { ...spec, addons: "KubeProxy" } };
}

/** How far the AddonSet of the cluster is, by its status. */
export async function readKubeProxy(
  { management }: Pick<Tools, "management">,
  { namespace, name }: MigrationRecord,
  signal: AbortSignal,
): Promise<Omit<KubeProxyFacts, "isChosen">> {
  return kubeProxyOf(await management.find(AddonSet, { namespace, name: addonSetNameOf(name) }, { signal }));
}

/** Its conditions count once its controller has seen the spec that it has. */
export function kubeProxyOf(set: AddonSet | undefined): Omit<KubeProxyFacts, "isChosen"> {
  const conditions = (set?.status?.conditions ?? []) as Condition[];
  const isSeen = set !== undefined && set.status?.observedGeneration === set.metadata.generation;
  const problem = (type: string): string | undefined => {
    const found = isSeen ? getCondition(conditions, type) : undefined;
    if (found?.status === "True") return undefined;
    return found?.message || "its controller has not seen it yet";
  };
  return { unapplied: problem("Applied"), unhealthy: problem("Healthy") };
}
