import type { ClusterStatus, MachineStatus } from "@causeway/api";
import { isRecord } from "@causeway/foundation";
import type { Condition, KubeObject } from "@causeway/kubernetes";

/**
 * The paths of provider objects that the Cluster API contract v1beta2 lets a generic controller read. Wire data:
 * whatever does not have the agreed shape counts as absent.
 */
export interface ProviderObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** Where clients reach an API server: a name or an address, and a port above 0. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

type Fields = Readonly<Record<string, unknown>>;

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);
}

function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === "string" && found !== "" ? found : undefined;
}

function listAt(value: unknown, ...path: readonly string[]): readonly Fields[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isRecord) : [];
}

/** InfraCluster and InfraMachine: status.initialization.provisioned. */
export function isProvisioned(object: ProviderObject): boolean {
  return at(object, "status", "initialization", "provisioned") === true;
}

/**
 * InfraCluster: spec.controlPlaneEndpoint. A control plane: the same, else spec.endpoint's outcome in status.endpoint.
 */
export function endpointOf(object: ProviderObject): Endpoint | undefined {
  for (const path of [
    ["spec", "controlPlaneEndpoint"],
    ["status", "endpoint"],
  ]) {
    const host = textAt(object, ...path, "host");
    const port = at(object, ...path, "port");
    if (host !== undefined && typeof port === "number" && port > 0) return { host, port };
  }
  return undefined;
}

/** A zone with a name of the provider's; `controlPlane`: control-plane machines may be in it. */
export type FailureDomain = NonNullable<ClusterStatus["failureDomains"]>[number];

/** InfraCluster: status.failureDomains. */
export function failureDomainsOf(object: ProviderObject): FailureDomain[] {
  return listAt(object, "status", "failureDomains").flatMap((domain) => {
    const name = textAt(domain, "name");
    if (name === undefined) return [];
    const controlPlane = domain["controlPlane"];
    const attributes = textValues(domain["attributes"]);
    return [
      {
        name,
        ...(typeof controlPlane === "boolean" ? { controlPlane } : {}),
        ...(attributes ? { attributes } : {}),
      },
    ];
  });
}

function textValues(value: unknown): Record<string, string> | undefined {
  if (!isRecord(value)) return undefined;
  const pairs = Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

/** InfraMachine: spec.providerID. */
export function providerIDOf(object: ProviderObject): string | undefined {
  return textAt(object, "spec", "providerID");
}

/** InfraMachinePool: spec.providerIDList. */
export function providerIDsOf(object: ProviderObject): string[] | undefined {
  const found = at(object, "spec", "providerIDList");
  return Array.isArray(found) ? found.filter((id): id is string => typeof id === "string" && id !== "") : undefined;
}

/** InfraMachinePool: the kind of the machines that it reports, if it reports any. */
export function memberKindOf(object: ProviderObject): string | undefined {
  return textAt(object, "status", "infrastructureMachineKind");
}

/** InfraMachine: status.failureDomain. */
export function failureDomainOf(object: ProviderObject): string | undefined {
  return textAt(object, "status", "failureDomain");
}

/** An address of a machine, of the types that Nodes have. */
export type MachineAddress = NonNullable<MachineStatus["addresses"]>[number];
const addressTypes: readonly string[] = ["Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"];

/** InfraMachine: status.addresses. */
export function addressesOf(object: ProviderObject): MachineAddress[] {
  return listAt(object, "status", "addresses").flatMap((entry) => {
    const type = textAt(entry, "type");
    const address = textAt(entry, "address");
    if (type === undefined || address === undefined || !addressTypes.includes(type)) return [];
    return [{ type: type as MachineAddress["type"], address }];
  });
}

/** BootstrapConfig: status.dataSecretName once status.initialization.dataSecretCreated. */
export function dataSecretNameOf(object: ProviderObject): string | undefined {
  if (at(object, "status", "initialization", "dataSecretCreated") !== true) return undefined;
  return textAt(object, "status", "dataSecretName");
}

/** ControlPlane: status.initialization.controlPlaneInitialized. */
export function isControlPlaneInitialized(object: ProviderObject): boolean {
  return at(object, "status", "initialization", "controlPlaneInitialized") === true;
}

/** ControlPlane: the requested version. */
export function controlPlaneSpecVersionOf(object: ProviderObject): string | undefined {
  return textAt(object, "spec", "version");
}

/** ControlPlane: the version that all of it has reached; undefined before it is provisioned. */
export function statusVersionOf(object: ProviderObject): string | undefined {
  return textAt(object, "status", "version");
}

/** ControlPlane: spec.machineTemplate.spec.infrastructureRef. */
export function machineTemplateReferenceOf(
  object: ProviderObject,
): { apiGroup: string; kind: string; name: string } | undefined {
  const path = ["spec", "machineTemplate", "spec", "infrastructureRef"];
  const [apiGroup, kind, name] = ["apiGroup", "kind", "name"].map((field) => textAt(object, ...path, field));
  return apiGroup === undefined || kind === undefined || name === undefined ? undefined : { apiGroup, kind, name };
}

/** As far as the control plane reports them. */
export interface ReplicaCounts {
  desiredReplicas?: number;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
}

/** ControlPlane: spec.replicas and the counters of status. */
export function replicaCountsOf(object: ProviderObject): ReplicaCounts {
  const counts: ReplicaCounts = {};
  const desired = at(object, "spec", "replicas");
  if (typeof desired === "number") counts.desiredReplicas = desired;
  for (const name of ["replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"] as const) {
    const count = at(object, "status", name);
    if (typeof count === "number") counts[name] = count;
  }
  return counts;
}

/** status.conditions[type] of any object. */
export function conditionOf(object: ProviderObject, type: string): Condition | undefined {
  const found = listAt(object, "status", "conditions").find((condition) => condition["type"] === type);
  return found && typeof found["status"] === "string" ? (found as unknown as Condition) : undefined;
}

/** spec.template of a template object: what a clone is made from. */
export function templateOf(object: ProviderObject): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  spec: Fields;
} {
  const template = at(object, "spec", "template");
  const spec = at(template, "spec");
  return {
    labels: textValues(at(template, "metadata", "labels")) ?? {},
    annotations: textValues(at(template, "metadata", "annotations")) ?? {},
    spec: isRecord(spec) ? spec : {},
  };
}

const own: ReadonlySet<string> = new Set([
  "cluster.x-k8s.io",
  "addons.cluster.x-k8s.io",
  "ipam.cluster.x-k8s.io",
  "runtime.cluster.x-k8s.io",
]);

/** Kinds of Cluster API itself have groups of their own; those of providers are in other groups. */
export function isProviderKind(kind: { readonly group: string }): boolean {
  return !own.has(kind.group);
}
