import type { Workload } from "./workloads.ts";

/** Programs in the cluster that change its machines by Magnum or Heat. The healer runs on each master. */
export const machineChangers: readonly Workload[] = [
  { kind: "Deployment", name: "cluster-autoscaler" },
  { kind: "DaemonSet", name: "magnum-auto-healer" },
  { kind: "Deployment", name: "magnum-auto-healer" },
  { kind: "Deployment", name: "draino" },
];

/** Which of Causeway's controllers a cluster has from phase adopt on. */
export interface OwnControllers {
  readonly volumes: boolean;
  readonly ingresses: boolean;
}

/** Programs in the cluster that write to the cloud what Causeway's controllers write from phase adopt on. */
export function cloudWriters({ volumes, ingresses }: OwnControllers): readonly Workload[] {
  return [
    { kind: "DaemonSet", name: "openstack-cloud-controller-manager" },
    // Of releases as far as Zed, and of later ones.
    ...(volumes
      ? ([
          { kind: "StatefulSet", name: "csi-cinder-controllerplugin" },
          { kind: "Deployment", name: "csi-cinder-controllerplugin" },
        ] as const)
      : []),
    ...(ingresses ? ([{ kind: "StatefulSet", name: "octavia-ingress-controller" }] as const) : []),
  ];
}

/** All that a migration stops. */
export const stoppable: readonly Workload[] = [...machineChangers, ...cloudWriters({ volumes: true, ingresses: true })];

/** Objects of kube-system in which the driver writes the password of Magnum's trustee. */
export const trusteeHolders = [
  { kind: "Secret", name: "os-trustee" },
  { kind: "Secret", name: "cinder-csi-cloud-config" },
  { kind: "Secret", name: "cluster-autoscaler-cloud-config" },
  { kind: "ConfigMap", name: "magnum-auto-healer-config" },
  { kind: "ConfigMap", name: "octavia-ingress-controller-config" },
] as const;
