import type { Cluster, HostedControlPlane } from "@causeway/api";
import { InputError, parseCidr } from "@causeway/foundation";
import type { ObjectKey } from "@causeway/kubernetes";
import { fromOfFolder } from "../../backups/folder.ts";

/** What was given for a new control plane. */
export interface RestoreInput {
  readonly key: ObjectKey;
  /** NAME, or NAME/UID. */
  readonly from: string;
  readonly at?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly kubernetesVersion?: string | undefined;
  readonly runtime?: "Process" | "Pods" | undefined;
  readonly serviceCidr?: string | undefined;
  readonly podCidr?: string | undefined;
  readonly withCloud: boolean;
}

/** The control plane that was backed up, as far as it still exists. */
export interface RestoreSource {
  readonly object: HostedControlPlane | undefined;
  readonly cluster: Cluster | undefined;
}

/** What is created. */
export interface RestoredObjects {
  readonly cluster: Cluster;
  readonly controlPlane: HostedControlPlane;
}

/**
 * The objects of a control plane that is created from a backup. Everything that is known to be wrong is refused here,
 * before anything is created.
 * @throws FLAG_INVALID, RESTORE_NOT_POSSIBLE, BACKUP_POINT_MISSING
 */
export function planRestore(input: RestoreInput, source: RestoreSource): RestoredObjects {
  const { key, from, at, endpoint, withCloud } = input;
  checkFlags(input);
  const uid = from.split("/")[1];
  const object = uid === undefined || source.object?.metadata.uid === uid ? source.object : undefined;
  const folder = folderOf(input, object);
  checkTime(at, object);
  const version = input.kubernetesVersion ?? object?.status?.version ?? object?.spec.version;
  const runtime = input.runtime ?? runtimeOf(object);
  if (version === undefined || runtime === undefined)
    throw impossible(input, "it does not exist any more, so that its version and runtime are not known", {
      hint: "Specify --kubernetes-version, --runtime, and --service-cidr and --pod-cidr where they were not the defaults.",
    });
  const { network, ...cluster } = clusterOf(input, object === undefined ? undefined : source.cluster);
  const labels = { "cluster.x-k8s.io/cluster-name": key.name };
  return {
    cluster: {
      ...cluster,
      spec: {
        clusterNetwork: network,
        controlPlaneRef: {
          apiGroup: "controlplane.cluster.x-k8s.io",
          kind: "HostedControlPlane",
          name: key.name,
        },
      },
    },
    controlPlane: {
      apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
      kind: "HostedControlPlane",
      metadata: { ...key, labels },
      spec: {
        ...settingsOf(object, { withCloud, runtime }),
        version,
        runtime,
        ...(endpoint === undefined ? {} : { endpoint: { host: endpoint } }),
        restore: { from: folder, ...(at === undefined ? {} : { at: new Date(Date.parse(at)).toISOString() }) },
      },
    },
  };
}

function checkFlags({ key, from, at, serviceCidr, podCidr }: RestoreInput): void {
  const invalid = (flag: string, why: string) => new InputError("FLAG_INVALID", `--${flag}: ${why}`);
  if (!/^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/.test(key.name))
    throw new InputError("CLUSTER_NAME_INVALID", `"${key.name}" cannot name a cluster`, {
      hint: "Begin with a lower-case letter; use letters, digits and '-', at most 52.",
    });
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(\/[0-9a-zA-Z-]+)?$/.test(from) || from.length > 300)
    throw invalid("from", `${from} is not NAME or NAME/UID of a control plane in namespace ${key.namespace}`);
  if (at !== undefined && (!/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(at) || Number.isNaN(Date.parse(at))))
    throw invalid("at", `${at} is not a time, such as 2026-01-02T03:00:00Z`);
  const cidrs = { "service-cidr": serviceCidr, "pod-cidr": podCidr };
  for (const [flag, cidr] of Object.entries(cidrs))
    if (cidr !== undefined && parseCidr(cidr) === undefined)
      throw invalid(flag, `${cidr} is not a network, such as 10.96.0.0/12`);
}

/** "NAME/UID" */
function folderOf(input: RestoreInput, object: HostedControlPlane | undefined): string {
  if (input.from.includes("/")) return input.from;
  if (object === undefined)
    throw impossible(input, `there is no hosted control plane ${input.from} in namespace ${input.key.namespace}`, {
      hint: "One that was deleted is named NAME/UID: causeway backup list NAMESPACE/NAME --backup-cloud … has it. It is restored in a namespace of the same name.",
    });
  const { folder } = object.status?.backup ?? {};
  if (folder !== undefined) return fromOfFolder(folder);
  throw impossible(input, "it was never backed up", {
    hint: "spec.backup has it backed up. Embedded control planes are restored by `causeway restore FILE`, all of them.",
  });
}

function checkTime(at: string | undefined, object: HostedControlPlane | undefined): void {
  const { oldest } = object?.status?.backup ?? {};
  // Times of the status are in whole seconds.
  if (at === undefined || oldest === undefined || Date.parse(at) + 1_000 > Date.parse(oldest)) return;
  throw new InputError("BACKUP_POINT_MISSING", `the oldest backup is from ${oldest}: there is none from ${at}`, {
    hint: "Restore to it or later: causeway backup list.",
  });
}

function runtimeOf(object: HostedControlPlane | undefined): "Process" | "Pods" | undefined {
  const runtime = object?.status?.runtime ?? object?.spec.runtime;
  return runtime === "Process" || runtime === "Pods" ? runtime : undefined;
}

/** What the new one has of the old one: nothing that names its place, its rotation or its cloud. */
function settingsOf(
  object: HostedControlPlane | undefined,
  { withCloud, runtime }: { readonly withCloud: boolean; readonly runtime: "Process" | "Pods" },
): Partial<HostedControlPlane["spec"]> {
  if (object === undefined) return {};
  const { limits, authentication, flags, backup, brokenWebhooks, pods, replicas } = object.spec;
  const { cloudConfigSecret, ...own } = pods ?? {};
  const settings = withCloud && cloudConfigSecret !== undefined ? { ...own, cloudConfigSecret } : own;
  return {
    ...(limits === undefined ? {} : { limits }),
    ...(authentication === undefined ? {} : { authentication }),
    ...(flags === undefined ? {} : { flags }),
    ...(backup === undefined ? {} : { backup }),
    ...(brokenWebhooks === undefined ? {} : { brokenWebhooks }),
    ...(runtime === "Process" || replicas === undefined ? {} : { replicas: Math.max(1, replicas) }),
    ...(runtime === "Process" || pods === undefined ? {} : { pods: settings }),
  };
}

/** Services of the data have addresses of the old network. */
function clusterOf({ key, serviceCidr, podCidr }: RestoreInput, old: Cluster | undefined) {
  const before = old?.spec.clusterNetwork;
  const services = serviceCidr === undefined ? before?.services : { cidrBlocks: [serviceCidr] };
  const pods = podCidr === undefined ? before?.pods : { cidrBlocks: [podCidr] };
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { ...key },
    network: {
      ...before,
      services: services ?? { cidrBlocks: ["10.96.0.0/12"] },
      pods: pods ?? { cidrBlocks: ["10.244.0.0/16"] },
    },
  };
}

function impossible({ from }: RestoreInput, why: string, { hint }: { readonly hint: string }): InputError {
  return new InputError("RESTORE_NOT_POSSIBLE", `${from} cannot be restored: ${why}`, { hint });
}
