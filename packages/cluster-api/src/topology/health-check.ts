import { MachineHealthCheck, type Cluster } from "@causeway/api";
import { ownerReference, type KubeObject } from "@causeway/kubernetes";
import { ownedLabels, type MadeObject } from "./made-objects.ts";

interface Check {
  readonly enabled?: boolean;
  readonly checks?: object;
  readonly remediation?: object;
}

/** Workers and control planes are checked if their class or their topology says how, unless the topology says no. */
export function isChecked(ofClass: Check | undefined, ofTopology: Check | undefined): boolean {
  if (ofTopology?.enabled === false) return false;
  return ofClass !== undefined || ofTopology?.checks !== undefined || ofTopology?.remediation !== undefined;
}

/**
 * The MachineHealthCheck of a control plane or of workers: it has the name of what it checks. The topology's checks
 * replace the class's.
 */
export function healthCheckOf(
  cluster: Cluster,
  target: KubeObject,
  how: {
    readonly ofClass: Check | undefined;
    readonly ofTopology: Check | undefined;
    readonly selector: Readonly<Record<string, string>>;
  },
): MadeObject | undefined {
  const { ofClass, ofTopology, selector } = how;
  if (!isChecked(ofClass, ofTopology)) return undefined;
  const own = ofTopology?.checks !== undefined || ofTopology?.remediation !== undefined ? ofTopology : ofClass;
  const { maxInFlight: _, ...remediation } = { ...own?.remediation } as Record<string, unknown>;
  const { name, namespace } = target.metadata;
  return {
    kind: MachineHealthCheck,
    object: {
      apiVersion: `${MachineHealthCheck.group}/${MachineHealthCheck.version}`,
      kind: MachineHealthCheck.kind,
      metadata: {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        labels: ownedLabels(cluster),
        ownerReferences: [ownerReference(cluster)],
      },
      spec: {
        clusterName: cluster.metadata.name,
        selector: { matchLabels: selector },
        ...(own?.checks ? { checks: own.checks } : {}),
        ...(Object.keys(remediation).length > 0 ? { remediation } : {}),
      },
    },
  };
}
