import {
  allKinds,
  Cluster,
  convertObject,
  KubeadmControlPlane,
  MachineDeployment,
  OpenStackCluster,
  OpenStackMachine,
  OpenStackMachineTemplate,
  type Kind,
} from "@causeway/api";
import type { ChangedObjects, MachineGroup } from "@causeway/cluster-api-openstack";
import { InputError, messageOf, readTextFile } from "@causeway/foundation";
import { secretData, type KubeObject, type KubernetesClient, type Secret } from "@causeway/kubernetes";
import { parseAllDocuments } from "yaml";

/** The objects of a file that a plan is about, as the API server would store them. */
export interface Changed {
  readonly clusters: readonly Cluster[];
  readonly infrastructures: readonly OpenStackCluster[];
  readonly machines: readonly OpenStackMachine[];
  readonly groups: readonly (MachineGroup & { readonly cluster: string })[];
  readonly secrets: readonly Secret[];
}

/** What objects are collected onto. */
export const nothingChanged: Changed = { clusters: [], infrastructures: [], machines: [], groups: [], secrets: [] };

/** Larger files than any manifest of a cluster are refused. */
const MOST_BYTES = 4 << 20;
const planned: readonly Kind<KubeObject>[] = [
  Cluster,
  OpenStackCluster,
  OpenStackMachine,
  OpenStackMachineTemplate,
  MachineDeployment,
  KubeadmControlPlane,
];

/**
 * Reads manifests, and has the API server default and validate them in a dry run, which also refuses changes of
 * immutable fields.
 * @throws PLAN_FILE_INVALID, KUBERNETES_…
 */
export async function readChanged(
  path: string,
  { client, namespace }: { readonly client: KubernetesClient; readonly namespace: string },
  signal: AbortSignal,
): Promise<Changed> {
  const given = documentsOf(path).map((object): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, namespace: object.metadata.namespace ?? namespace },
  }));
  const stored: KubeObject[] = [];
  for (const object of given) {
    const [group, version = ""] = object.apiVersion.split("/");
    const kind = planned.find((one) => one.group === group && one.kind === object.kind);
    if (!kind) continue;
    const applied = await client.apply({ ...kind, version }, object, {
      fieldManager: "causeway-plan",
      dryRun: true,
      signal,
    });
    stored.push(convertObject(allKinds, { ...applied, kind: object.kind, apiVersion: object.apiVersion }, hub(kind)));
  }
  const of = <T extends KubeObject>({ kind }: { readonly kind: string; readonly example?: T }): T[] =>
    stored.filter((object): object is T => object.kind === kind);
  return {
    clusters: of(Cluster),
    infrastructures: of(OpenStackCluster),
    machines: of(OpenStackMachine),
    groups: groupsOf(of(MachineDeployment), of(KubeadmControlPlane), {
      templates: of(OpenStackMachineTemplate),
      clusters: of(Cluster),
    }),
    secrets: given.filter((o): o is Secret => o.kind === "Secret" && o.apiVersion === "v1").map(withData),
  };
}

/** What of a file concerns one Cluster. */
export function changedOf(
  changed: Changed,
  key: { readonly namespace: string; readonly name: string },
): ChangedObjects {
  const at = ({ metadata }: KubeObject, name: string) => metadata.namespace === key.namespace && metadata.name === name;
  const cluster = changed.clusters.find((one) => at(one, key.name));
  const reference = cluster?.spec.infrastructureRef;
  const name = reference?.kind === "OpenStackCluster" ? reference.name : key.name;
  return {
    cluster,
    infrastructure: changed.infrastructures.find((one) => at(one, name)),
    groups: changed.groups.filter((group) => group.cluster === key.name),
  };
}

const hub = ({ group, version }: { readonly group: string; readonly version: string }) => `${group}/${version}`;

function documentsOf(path: string): KubeObject[] {
  const text = textOf(path);
  if (text.length > MOST_BYTES) throw invalid(path, `it is larger than ${MOST_BYTES >> 20} MiB`);
  const objects = parseAllDocuments(text).map((document): unknown => {
    const [problem] = document.errors;
    if (problem) throw invalid(path, firstLine(problem.message));
    try {
      return document.toJS({ maxAliasCount: 100 });
    } catch (error) {
      throw invalid(path, messageOf(error));
    }
  });
  return objects.filter((object) => object !== null).map((object) => checked(object, path));
}

function textOf(path: string): string {
  try {
    return readTextFile(path);
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause);
  }
}

/** Of a problem of YAML: where it is, without the excerpt of the file and the colon before it. */
function firstLine(message: string): string {
  return message.replace(/:?\n[\s\S]*$/, "");
}

function checked(object: unknown, path: string): KubeObject {
  const { apiVersion, kind, metadata } = (object ?? {}) as Partial<KubeObject>;
  if (typeof apiVersion === "string" && typeof kind === "string" && typeof metadata?.name === "string")
    return object as KubeObject;
  throw invalid(path, "an object of it has no apiVersion, kind or metadata.name");
}

function invalid(path: string, why: string, cause?: unknown): InputError {
  return new InputError("PLAN_FILE_INVALID", `${path} cannot be planned: ${why}`, {
    cause,
    hint: "Specify manifests as `kubectl apply -f` takes them.",
  });
}

/** A Secret as the API server stores it. */
function withData(secret: Secret): Secret {
  const { stringData = {} } = secret as Secret & { stringData?: Readonly<Record<string, string>> };
  return { ...secret, data: { ...secret.data, ...secretData(stringData) } };
}

interface Around {
  readonly templates: readonly OpenStackMachineTemplate[];
  readonly clusters: readonly Cluster[];
}

/** Sets of machines whose template is in the file, too. */
function groupsOf(
  deployments: readonly MachineDeployment[],
  controlPlanes: readonly KubeadmControlPlane[],
  { templates, clusters }: Around,
): Changed["groups"] {
  const specOf = (name: string) => templates.find(({ metadata }) => metadata.name === name)?.spec.template.spec;
  const owners = controlPlanes.flatMap(({ metadata, spec }) => {
    const cluster = clusters.find((one) => one.spec.controlPlaneRef?.name === metadata.name)?.metadata.name;
    const template = specOf(spec.machineTemplate.spec.infrastructureRef.name);
    const of = `KubeadmControlPlane ${metadata.name}`;
    return cluster && template
      ? [{ of, cluster, replicas: spec.replicas ?? 1, isControlPlane: true, spec: template }]
      : [];
  });
  const workers = deployments.flatMap(({ metadata, spec }) => {
    const { infrastructureRef, failureDomain } = spec.template.spec;
    const template = specOf(infrastructureRef.name);
    const of = `MachineDeployment ${metadata.name}`;
    const base = { of, cluster: spec.clusterName, replicas: spec.replicas ?? 1, isControlPlane: false, failureDomain };
    return template ? [{ ...base, spec: template }] : [];
  });
  return [...owners, ...workers];
}
