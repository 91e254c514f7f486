import { OpenStackDeployment } from "@causeway/api";
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  Job,
  Node,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
  type Informer,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
} from "@causeway/kubernetes";
import { labels } from "../model/names.ts";
import { objectName } from "../render/context.ts";
import { RESTORED_KEYS } from "../restore/jobs.ts";
import { NetworkPolicy, PodDisruptionBudget } from "../render/types.ts";
import { mutableSecrets } from "../render/desired.ts";
import { openOptionalKinds, type OptionalKinds } from "./optional-kinds.ts";

/** Everything that the plan of a deployment is made from. */
export interface Observed {
  readonly deployment: OpenStackDeployment;
  /** Objects of the deployment, by "Kind/name". */
  readonly objects: ReadonlyMap<string, KubeObject>;
  readonly pods: readonly Pod[];
  readonly replicaSets: readonly ReplicaSet[];
  readonly credentials: Secret | undefined;
  readonly tokenKeys: Secret | undefined;
  readonly credentialKeys: Secret | undefined;
  /** Where passwords and keys of a backup arrive. */
  readonly restoredKeys: Secret | undefined;
  readonly nodes: readonly Node[];
  /** Components whose pods have volumes, also those of an earlier deployment of the same name. */
  readonly claims: ReadonlySet<string>;
  /** Kinds of other operators that the server has, and whether all their objects are known. */
  readonly served: ReadonlySet<string>;
  readonly isComplete: boolean;
}

/** Kinds of objects that the operator writes. */
export const writtenKinds: readonly ResourceType<KubeObject>[] = [
  ServiceAccount,
  Role,
  RoleBinding,
  ConfigMap,
  Secret,
  Service,
  NetworkPolicy,
  PodDisruptionBudget,
  Deployment,
  StatefulSet,
  DaemonSet,
  Job,
] as readonly ResourceType<KubeObject>[];

/** The informers that `gather` reads; it makes no calls. */
export interface GatherFrom {
  readonly deployments: Informer<OpenStackDeployment>;
  readonly written: readonly Informer<KubeObject>[];
  readonly pods: Informer<Pod>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly nodes: Informer<Node>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly optional: OptionalKinds;
}

/** The name of the index that finds objects by "NAMESPACE/NAME" of their deployment. */
export const byDeployment = "openstack-deployment";

/** The name of the deployment that an object belongs to; undefined: it belongs to none. */
export const deploymentOf = ({ metadata }: Pick<KubeObject, "metadata">): string | undefined =>
  metadata.labels?.[labels.deployment] ?? metadata.labels?.[labels.backendOf];

const indexOf = ({ metadata }: KubeObject): string[] => {
  const name = deploymentOf({ metadata });
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
};

/** Opens the informers: all but those of deployments and nodes are limited to the operator's own labels. */
export function openInformers(informers: Informers): GatherFrom {
  const indexed = <T extends KubeObject>(type: ResourceType<T>, labelSelector: string = labels.deployment) => {
    const informer = informers.for(type, { labelSelector });
    informers.index(informer, { [byDeployment]: indexOf });
    return informer;
  };
  return {
    deployments: informers.for(OpenStackDeployment),
    written: writtenKinds.map((type) => indexed(type)),
    pods: indexed(Pod),
    replicaSets: indexed(ReplicaSet),
    nodes: informers.for(Node),
    claims: indexed(PersistentVolumeClaim),
    optional: openOptionalKinds(informers, indexed),
  };
}

/** An object within its namespace: "Deployment/demo-nova-api". */
export const idOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

/** What is there of a deployment; undefined: it was deleted. */
export function gather(from: GatherFrom, key: ObjectKey): Observed | undefined {
  const deployment = from.deployments.get(key);
  if (!deployment) return undefined;
  const of = `${key.namespace}/${key.name}`;
  const objects = new Map<string, KubeObject>();
  for (const informer of [...from.written, ...from.optional.informers()]) {
    for (const object of informer.byIndex(byDeployment, of))
      objects.set(`${informer.type.kind}/${object.metadata.name}`, object);
  }
  const names = mutableSecrets(key.name);
  const secret = (name: string) => objects.get(`Secret/${name}`) as Secret | undefined;
  return {
    deployment,
    objects,
    pods: from.pods.byIndex(byDeployment, of),
    replicaSets: from.replicaSets.byIndex(byDeployment, of),
    credentials: secret(names.credentials),
    tokenKeys: secret(names.tokenKeys),
    credentialKeys: secret(names.credentialKeys),
    restoredKeys: secret(objectName(key.name, RESTORED_KEYS)),
    nodes: from.nodes.list(),
    claims: new Set(
      from.claims.byIndex(byDeployment, of).flatMap(({ metadata }) => metadata.labels?.[labels.component] ?? []),
    ),
    served: from.optional.served(),
    isComplete: from.optional.isSynced(),
  };
}
