import type { Machine } from "@causeway/api";
import type { Condition } from "@causeway/kubernetes";
import type { CertificatePurpose } from "../objects/certificates.ts";
import type { ObjectStep } from "../objects/steps.ts";
import type { EtcdMember } from "../objects/access.ts";

/** What can be done for a KubeadmControlPlane. Steps carry no secret: keys are made while performing. */
export type ControlPlaneStep =
  | ObjectStep
  | { readonly do: "createCertificates"; readonly purposes: readonly CertificatePurpose[] }
  | { readonly do: "writeKubeconfig" }
  /** What the next machines join with: the ConfigMap kubeadm-config of the workload cluster. */
  | { readonly do: "updateKubeadmConfig"; readonly version: string }
  /** Of what kubeadm installed in kube-system. */
  | { readonly do: "setAddonImage"; readonly addon: "kube-proxy" | "coredns"; readonly image: string }
  | { readonly do: "moveLeader"; readonly to: EtcdMember }
  | { readonly do: "removeMember"; readonly member: EtcdMember }
  /** The conditions of a Machine that are the control plane's to report. */
  | { readonly do: "setConditions"; readonly machine: Machine; readonly conditions: readonly Condition[] };
