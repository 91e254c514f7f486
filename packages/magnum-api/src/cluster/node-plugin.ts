import { addonSetLabel } from "@causeway/api";
import type { DaemonSet } from "@causeway/kubernetes";

/**
 * DaemonSets of kube-system with the node part of the Cinder CSI driver: `first` of Magnum's Heat driver, or of who
 * installed it where there is none; `second` of the fleet, next to that of Magnum's driver.
 */
export const nodePluginNames = { first: "csi-cinder-nodeplugin", second: "causeway-csi-cinder-nodeplugin" } as const;

/** The label of objects that the fleet installed in a cluster, and may change. */
export const fleetLabel = { name: "app.kubernetes.io/managed-by", value: "causeway-fleet" } as const;

/** Magnum's driver writes the credentials of its trustee to it. */
const SECRET = "cinder-csi-cloud-config";

/** By the Secret of its own name: one of a user, of a chart or of an AddonSet has another one, or none. */
export const isDriversNodePlugin = (found: DaemonSet | undefined): found is DaemonSet =>
  found !== undefined &&
  found.metadata.labels?.[addonSetLabel] === undefined &&
  JSON.stringify(found.spec.template.spec?.volumes ?? []).includes(`"${SECRET}"`);

/** Whether the fleet installed it. */
export const isFleets = (found: { readonly metadata: DaemonSet["metadata"] } | undefined): boolean =>
  found?.metadata.labels?.[fleetLabel.name] === fleetLabel.value;
