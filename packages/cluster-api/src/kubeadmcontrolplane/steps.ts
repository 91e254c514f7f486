import type { Machine } from "@causeway/api";
import type { Condition } from "@causeway/kubernetes";
import type { CertificatePurpose } from "../objects/certificates.ts";
import type { ObjectStep } from "../objects/steps.ts";
import type { EtcdMember } from "../objects/access.ts";

/** What can be done for a KubeadmControlPlane. Steps carry no secret: keys are made while performing. */
export type ControlPlaneStep =
  | ObjectStep
  | { readonly type: "create-certificates"; readonly purposes: readonly CertificatePurpose[] }
  | { readonly type: "write-kubeconfig" }
  /** What the next machines join with: the ConfigMap kubeadm-config of the workload cluster. */
  | { readonly type: "update-kubeadm-config"; readonly version: string }
  /** Of what kubeadm installed in kube-system. */
  | { readonly type: "set-addon-image"; readonly addon: "kube-proxy" | "coredns"; readonly image: string }
  | { readonly type: "move-leader"; readonly to: EtcdMember }
  | { readonly type: "remove-member"; readonly member: EtcdMember }
  /** The conditions of a Machine that are the control plane's to report. */
  | { readonly type: "set-conditions"; readonly machine: Machine; readonly conditions: readonly Condition[] };
