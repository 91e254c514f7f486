import { KubeadmConfigTemplate, type KubeadmConfigSpec } from "../bootstrap/index.ts";
import { MachineDeployment, type MachineDeploymentSpec } from "../cluster/index.ts";
import { OpenStackMachineTemplate, type OpenStackMachineSpec } from "../infrastructure/index.ts";
import { manifest, type Manifest } from "./manifest.ts";

/** The workers of one kind of a managed cluster. */
export interface NodePool {
  /** Name of its MachineDeployment. */
  readonly name: string;
  /** Name of its templates, which are immutable: another content needs another name. Default: the pool's. */
  readonly templates?: string;
  readonly version: string;
  /** Undefined: an autoscaler decides. */
  readonly replicas?: number;
  readonly machine: OpenStackMachineSpec;
  readonly failureDomain?: string;
  /** Flags of the kubelet in addition to those that every node needs. */
  readonly kubeletArgs?: readonly { readonly name: string; readonly value: string }[];
  /** What a machine has and does before it joins. */
  readonly bootstrap?:
    | { readonly files: NonNullable<KubeadmConfigSpec["files"]>; readonly commands: readonly string[] }
    | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: MachineDeploymentSpec["template"]["spec"]["taints"];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Of its Machines. A change of them replaces none. */
  readonly machineAnnotations?: Readonly<Record<string, string>> | undefined;
  /** Machines made before this instant (RFC 3339) are replaced. */
  readonly rolloutAfter?: string;
  /** Nodes above the wanted number during a rollout. Default 1. */
  readonly maxSurge?: number;
}

type Template = MachineDeploymentSpec["template"];

interface Owner {
  readonly namespace: string;
  readonly cluster: string;
  readonly metadata: Manifest["object"]["metadata"];
}

/** A pool's machine template, bootstrap template and MachineDeployment, in the order in which they are applied. */
export function nodePoolManifests(pool: NodePool, { cluster, metadata }: Owner): readonly Manifest[] {
  const templates = pool.templates ?? pool.name;
  const meta = (name: string) => ({ ...metadata, name, labels: { ...metadata.labels, ...pool.labels } });
  return [
    manifest(OpenStackMachineTemplate, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackMachineTemplate",
      metadata: meta(templates),
      spec: { template: { spec: pool.machine } },
    }),
    manifest(KubeadmConfigTemplate, {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmConfigTemplate",
      metadata: meta(templates),
      spec: {
        template: {
          spec: {
            ...bootstrapOf(pool),
            joinConfiguration: {
              nodeRegistration: {
                name: "{{ local_hostname }}",
                kubeletExtraArgs: [{ name: "cloud-provider", value: "external" }, ...(pool.kubeletArgs ?? [])],
              },
            },
          },
        },
      },
    }),
    manifest(MachineDeployment, deployment(pool, cluster, meta(pool.name))),
  ];
}

function bootstrapOf({ bootstrap }: NodePool): Pick<KubeadmConfigSpec, "files" | "preKubeadmCommands"> {
  return bootstrap === undefined ? {} : { files: bootstrap.files, preKubeadmCommands: [...bootstrap.commands] };
}

function deployment(pool: NodePool, cluster: string, metadata: MachineDeployment["metadata"]): MachineDeployment {
  const templates = pool.templates ?? pool.name;
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineDeployment",
    metadata: {
      ...metadata,
      ...(pool.annotations ? { annotations: { ...metadata.annotations, ...pool.annotations } } : {}),
    },
    spec: {
      clusterName: cluster,
      ...(pool.replicas === undefined ? {} : { replicas: pool.replicas }),
      ...rolloutOf(pool),
      template: {
        ...templateMetadata(pool),
        spec: {
          clusterName: cluster,
          version: pool.version,
          bootstrap: {
            configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfigTemplate", name: templates },
          },
          infrastructureRef: {
            apiGroup: "infrastructure.cluster.x-k8s.io",
            kind: "OpenStackMachineTemplate",
            name: templates,
          },
          ...(pool.failureDomain === undefined ? {} : { failureDomain: pool.failureDomain }),
          ...(pool.taints === undefined || pool.taints.length === 0 ? {} : { taints: pool.taints }),
        },
      },
    },
  };
}

function templateMetadata({ labels, machineAnnotations: notes }: NodePool): Pick<Template, "metadata"> {
  if (labels === undefined && notes === undefined) return {};
  return {
    metadata: {
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(notes === undefined ? {} : { annotations: { ...notes } }),
    },
  };
}

function rolloutOf({ maxSurge, rolloutAfter }: NodePool): Pick<MachineDeploymentSpec, "rollout"> {
  if (maxSurge === undefined && rolloutAfter === undefined) return {};
  return {
    rollout: {
      ...(rolloutAfter === undefined ? {} : { after: rolloutAfter }),
      ...(maxSurge === undefined
        ? {}
        : { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable: 0 } } }),
    },
  };
}
