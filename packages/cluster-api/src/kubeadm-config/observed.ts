import type { Cluster, KubeadmConfig } from "@causeway/api";
import type { Secret } from "@causeway/kubernetes";
import type { Certificates } from "../objects/certificates.ts";
import type { SecretValues } from "./cloud-config.ts";

/**
 * What a KubeadmConfig is for: one Machine, or the machines of a MachinePool, which come and go for as long as it
 * exists.
 */
export interface ConfigOwner {
  readonly kind: "Machine" | "MachinePool";
  readonly name: string;
  readonly clusterName: string;
  readonly version: string | undefined;
  readonly isControlPlane: boolean;
  /** A Machine that has a Node. */
  readonly hasJoined: boolean;
}

/** The ConfigMap CLUSTER-lock as it is. */
export interface InitLock {
  readonly uid: string;
  /** The Machine that has it. */
  readonly holder: string;
  /** Whether that Machine still exists. */
  readonly isHeld: boolean;
}

/** All that the planner of KubeadmConfigs reads. Contents of Secrets do not leave it. */
export interface Observed {
  readonly config: KubeadmConfig;
  readonly owner: ConfigOwner | undefined;
  readonly cluster: Cluster | undefined;
  /** The bootstrap data Secret, whosever it is. */
  readonly dataSecret: Secret | undefined;
  /** The Secret of the token in the data Secret. "unreachable": the workload cluster is not connected. */
  readonly token: Secret | undefined | "unreachable";
  /** PEM of the cluster's certificate authority. */
  readonly authority: string | undefined;
  /** Those of a control plane; undefined for workers, and while one is missing. */
  readonly certificates: Certificates | undefined;
  /** The ConfigMap that lets one machine at a time initialise the control plane. */
  readonly lock: InitLock | undefined;
  /** Values of the Secrets that files and users take in, and the names of those that are missing. */
  readonly secrets: SecretValues;
  readonly missingSecrets: readonly string[];
}
