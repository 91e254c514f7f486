/** What the conformance specs run on: a control plane with two workers that run real containers. */
export interface Place {
  /** A file: of the administrator. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/** Kubernetes' own programs started by hand, and control planes of ours. */
export const PLANES = ["plain", "process", "pods"] as const;
export type PlaneName = (typeof PLANES)[number];

/** Where programs and images are, as scripts/test-e2e-conformance.ts found or built them. */
export interface Environment {
  /** The folder with etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl. */
  readonly binaries: string;
  /** The folder that has them as VERSION/PROGRAM. */
  readonly programs: string;
  readonly kubelet: string;
  readonly images: string;
  /** Kubernetes' release, such as "v1.34.4". */
  readonly version: string;
  /** The suite's program. */
  readonly suite: string;
}
