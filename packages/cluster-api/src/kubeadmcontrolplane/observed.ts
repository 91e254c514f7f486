import type { Cluster, KubeadmControlPlane, Machine } from "@causeway/api";
import type { Pod } from "@causeway/kubernetes";
import type { NamesInUse } from "../objects/names.ts";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { ObservedTemplate } from "../machineset/observed.ts";
import type { CertificatePurpose } from "../objects/certificates.ts";
import type { EtcdMember } from "../objects/access.ts";
import type { AddonImages } from "./addons.ts";

/** A machine of the control plane with its provider objects. */
export interface OwnedMachine {
  readonly machine: Machine;
  readonly config: Referred<ProviderObject> | undefined;
  readonly host: Referred<ProviderObject>;
}

/** The members of etcd, or why they cannot be listed; those of an external etcd are no matter of the control plane. */
export type ObservedEtcd =
  | { readonly members: readonly EtcdMember[] }
  | { readonly problem: string }
  | { readonly external: true };

/** The workload cluster as seen now. */
export type ObservedWorkload =
  | { readonly reach: "unreachable" }
  | {
      readonly reach: "connected";
      /** Static pods of the control plane, by Node and component ("etcd", "kube-apiserver"…). */
      readonly pods: ReadonlyMap<string, Pod>;
      readonly etcd: ObservedEtcd;
      /**
       * kubernetesVersion of the ConfigMap kubeadm-config; undefined: there is none, so kubeadm init has not completed.
       */
      readonly kubeadmVersion: string | undefined;
      /** Expiry of the API server's certificate, by Node (ms since the epoch). */
      readonly expiries: ReadonlyMap<string, number>;
      readonly addons: AddonImages;
    };

/** All that the planner of KubeadmControlPlanes reads. Keys of certificates do not leave it. */
export interface Observed {
  readonly control: KubeadmControlPlane;
  readonly cluster: Cluster | undefined;
  readonly machines: readonly OwnedMachine[];
  readonly infrastructure: ObservedTemplate;
  readonly configKind: ObservedTemplate["cloneKind"];
  readonly configs: NamesInUse;
  /** Names of all Machines in the namespace. */
  readonly taken: NamesInUse;
  readonly missingCertificates: readonly CertificatePurpose[];
  /** The kubeconfig Secret: when the certificate in it expires (ms since the epoch), if this control plane owns it. */
  readonly kubeconfig: { readonly exists: boolean; readonly expires?: number };
  readonly workload: ObservedWorkload;
  /**
   * Workers of the cluster: MachineDeployments, MachinePools, MachineSets and Machines that are not of a control plane.
   */
  readonly workers: number;
}
