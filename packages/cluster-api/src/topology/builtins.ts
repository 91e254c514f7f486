import type { Cluster, MachineDeployment, MachinePool } from "@causeway/api";
import type { Fields, Value } from "../gotemplate/values.ts";
import type { VariableValue } from "../variables/cluster-variables.ts";

const left: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "cluster.x-k8s.io/conversion-data",
]);

/** The variables that every template of a Cluster sees: its own, and `builtin.cluster`. */
export function clusterBuiltins(cluster: Cluster): Fields {
  const { metadata, spec } = cluster;
  const { clusterNetwork, topology } = spec;
  const network = withoutEmpty({
    serviceDomain: clusterNetwork?.serviceDomain,
    services: clusterNetwork?.services?.cidrBlocks,
    pods: clusterNetwork?.pods?.cidrBlocks,
  });
  const namespace = topology?.classRef.namespace ?? metadata.namespace;
  const className = topology?.classRef.name;
  return withoutEmpty({
    name: metadata.name,
    namespace: metadata.namespace,
    uid: metadata.uid,
    metadata: metadataOf(metadata),
    topology: withoutEmpty({
      version: topology?.version,
      classRef: withoutEmpty({ name: className, namespace }),
      class: className,
      classNamespace: namespace,
    }),
    ...(Object.keys(network).length > 0 ? { network } : {}),
  });
}

/** What templates see of the control plane; `machineTemplate` is a name. */
export interface ControlPlaneValues {
  readonly name: string;
  readonly version: string;
  readonly replicas: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly machineTemplate: string | undefined;
}

/** The variable `builtin.controlPlane`; what is undefined is left out. */
export function controlPlaneBuiltins(values: ControlPlaneValues): Fields {
  const { name, version, replicas, machineTemplate, labels, annotations } = values;
  return withoutEmpty({
    version,
    metadata: metadataOf({ labels, annotations }),
    name,
    replicas,
    ...(machineTemplate === undefined ? {} : { machineTemplate: { infrastructureRef: { name: machineTemplate } } }),
  });
}

/** What templates of workers see of the MachineDeployment or MachinePool that they are for. */
export function workerBuiltins(
  deployment: MachineDeployment | MachinePool,
  topology: { readonly class: string; readonly name: string },
): Fields {
  const { metadata, spec } = deployment;
  const { bootstrap, infrastructureRef, version } = spec.template.spec;
  return withoutEmpty({
    version,
    metadata: metadataOf(metadata),
    class: topology.class,
    name: metadata.name,
    topologyName: topology.name,
    replicas: spec.replicas,
    ...(bootstrap.configRef ? { bootstrap: { configRef: { name: bootstrap.configRef.name } } } : {}),
    infrastructureRef: { name: infrastructureRef.name },
  });
}

interface Marked {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

function metadataOf({ labels, annotations }: Marked): Fields | undefined {
  if (!labels && !annotations) return undefined;
  const notes = Object.entries(annotations ?? {}).filter(([name]) => !left.has(name));
  return { ...(labels ? { labels } : {}), ...(annotations ? { annotations: Object.fromEntries(notes) } : {}) };
}

function withoutEmpty(fields: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

/** All variables of one template: overrides win over the Cluster's. */
export function variablesOf(
  cluster: readonly VariableValue[],
  overrides: readonly VariableValue[],
  builtin: Fields,
): Fields {
  const named = [...cluster, ...overrides].map(({ name, value }): [string, Value] => [name, value as Value]);
  return { ...Object.fromEntries(named), builtin };
}
