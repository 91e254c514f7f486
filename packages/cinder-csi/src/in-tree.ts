import type { PersistentVolume, StorageClass } from "@causeway/kubernetes";
import { DRIVER_NAME, TOPOLOGY_ZONE } from "./names.ts";

/**
 * The provisioner of the in-tree driver, which Kubernetes removed in 1.26; its objects are served by this driver (CSI
 * migration).
 */
export const IN_TREE_PROVISIONER = "kubernetes.io/cinder";

const FS_TYPE = "csi.storage.k8s.io/fstype";
/** Labels that in-tree volumes have their zone under, newest first. */
const ZONES = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];

/**
 * The StorageClass as it is for this driver, as Kubernetes' translation has it: `fsType` and `availability` have other
 * names.
 */
export function translateStorageClass(inTree: StorageClass): StorageClass {
  if (inTree.provisioner !== IN_TREE_PROVISIONER) return inTree;
  const parameters: Record<string, string> = {};
  let zone: string | undefined;
  for (const [key, value] of Object.entries(inTree.parameters ?? {})) {
    if (/^fstype$/i.test(key)) parameters[FS_TYPE] = value;
    else if (/^availability$/i.test(key)) zone = value;
    else parameters[key] = value;
  }
  const own = zone === undefined ? undefined : [{ matchLabelExpressions: [{ key: TOPOLOGY_ZONE, values: [zone] }] }];
  const allowedTopologies = own ?? inTree.allowedTopologies?.map(translateTopology);
  return {
    ...inTree,
    provisioner: DRIVER_NAME,
    parameters,
    ...(allowedTopologies && { allowedTopologies }),
  };
}

type Topology = NonNullable<StorageClass["allowedTopologies"]>[number];

const translateTopology = ({ matchLabelExpressions = [] }: Topology): Topology => ({
  matchLabelExpressions: matchLabelExpressions.map((each) => ({ ...each, key: translateKey(each.key) })),
});

const translateKey = (key: string): string => (ZONES.includes(key) ? TOPOLOGY_ZONE : key);

/**
 * The in-tree volume with the source of this driver; undefined: it is none of Cinder's. The object in the cluster is
 * not changed.
 */
export function translateVolume(inTree: PersistentVolume): PersistentVolume | undefined {
  const { cinder, csi: _, ...spec } = inTree.spec;
  if (cinder === undefined) return undefined;
  const required = spec.nodeAffinity?.required;
  const nodeSelectorTerms = required?.nodeSelectorTerms?.map((term) => ({
    ...term,
    matchExpressions: term.matchExpressions?.map((each) => ({ ...each, key: translateKey(each.key) })) ?? [],
  }));
  return {
    ...inTree,
    spec: {
      ...spec,
      csi: {
        driver: DRIVER_NAME,
        volumeHandle: cinder.volumeID,
        ...(cinder.fsType !== undefined && { fsType: cinder.fsType }),
        ...(cinder.readOnly === true && { readOnly: true }),
      },
      ...(nodeSelectorTerms && { nodeAffinity: { required: { nodeSelectorTerms } } }),
    },
  };
}
