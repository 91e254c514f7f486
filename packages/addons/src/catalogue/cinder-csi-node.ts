import { CausewayError } from "@causeway/foundation";
import type { ManifestObject } from "../manifests/parse.ts";
import type { BuiltIn, CatalogueChoice, ClusterFacts } from "./facts.ts";

const driver = "cinder.csi.openstack.org";

/** Where the node part runs, and as what. */
export interface NodePartPlace {
  /** Of the DaemonSet. Default "csi-cinder-nodeplugin", as upstream's. */
  readonly name?: string;
  /** Labels of its nodes. Default: all nodes. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

/** The DaemonSet and its ServiceAccount: it needs no rights in the cluster. */
export function cinderCsiNodeObjects(image: string, place: NodePartPlace = {}): readonly ManifestObject[] {
  return objectsOf(image, place).filter(({ kind }) => kind !== "CSIDriver");
}

/** The node part of the Cinder CSI driver. Its controller runs outside the cluster, with the credentials. */
export function cinderCsiNode(_facts: ClusterFacts | undefined, { image }: CatalogueChoice): BuiltIn {
  if (image === undefined)
    throw new CausewayError("ADDON_CATALOGUE_INCOMPLETE", "catalogue CinderCSINode needs image", {
      hint: "Specify an image of Causeway that the nodes can pull.",
    });
  return { probes: [], objects: objectsOf(image, {}) };
}

function objectsOf(
  image: string,
  { name = "csi-cinder-nodeplugin", nodeSelector }: NodePartPlace,
): readonly ManifestObject[] {
  const selected = { app: name };
  const plugin = {
    name: "cinder-csi",
    image,
    args: [
      "run",
      "cinder-csi",
      "--node",
      "--endpoint=unix:///csi/csi.sock",
      `--kubelet-registration-path=/var/lib/kubelet/plugins/${driver}/csi.sock`,
    ],
    securityContext: { privileged: true },
    volumeMounts: [
      { name: "socket", mountPath: "/csi" },
      { name: "registration", mountPath: "/registration" },
      { name: "kubelet", mountPath: "/var/lib/kubelet", mountPropagation: "Bidirectional" },
      { name: "dev", mountPath: "/dev", mountPropagation: "HostToContainer" },
    ],
  };
  const folder = (name: string, path: string, type = "Directory") => ({ name, hostPath: { path, type } });
  const spec = {
    serviceAccountName: "csi-cinder-node-sa",
    hostNetwork: true,
    priorityClassName: "system-node-critical",
    tolerations: [{ operator: "Exists" }],
    ...(nodeSelector && { nodeSelector }),
    containers: [plugin],
    volumes: [
      folder("socket", `/var/lib/kubelet/plugins/${driver}`, "DirectoryOrCreate"),
      folder("registration", "/var/lib/kubelet/plugins_registry"),
      folder("kubelet", "/var/lib/kubelet"),
      folder("dev", "/dev"),
    ],
  };
  return [
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      metadata: { name: driver },
      spec: { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ["Persistent"] },
    },
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "csi-cinder-node-sa", namespace: "kube-system" },
      automountServiceAccountToken: false,
    },
    {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name, namespace: "kube-system", labels: selected },
      spec: { selector: { matchLabels: selected }, template: { metadata: { labels: selected }, spec } },
    },
  ];
}
