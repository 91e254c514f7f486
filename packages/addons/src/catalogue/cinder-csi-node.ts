import { CausewayError } from "@causeway/foundation";
import type { ManifestObject } from "../manifests/parse.ts";
import type { BuiltIn, CatalogueChoice, ClusterFacts } from "./facts.ts";

const driver = "cinder.csi.openstack.org";
const selected = { app: "csi-cinder-nodeplugin" };

/** The DaemonSet and its ServiceAccount: it needs no rights in the cluster. */
export function cinderCsiNodeObjects(image: string): readonly ManifestObject[] {
  return cinderCsiNode(undefined, { name: "CinderCSINode", image }).objects.filter(({ kind }) => kind !== "CSIDriver");
}

/** The node part of the Cinder CSI driver. Its controller runs outside the cluster, with the credentials. */
export function cinderCsiNode(_facts: ClusterFacts | undefined, { image }: CatalogueChoice): BuiltIn {
  if (image === undefined)
    throw new CausewayError("ADDON_CATALOGUE_INCOMPLETE", "catalogue CinderCSINode needs image", {
      hint: "Name an image of Causeway that the nodes can pull.",
    });
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
    containers: [plugin],
    volumes: [
      folder("socket", `/var/lib/kubelet/plugins/${driver}`, "DirectoryOrCreate"),
      folder("registration", "/var/lib/kubelet/plugins_registry"),
      folder("kubelet", "/var/lib/kubelet"),
      folder("dev", "/dev"),
    ],
  };
  return {
    probes: [],
    objects: [
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
        metadata: { name: "csi-cinder-nodeplugin", namespace: "kube-system", labels: selected },
        spec: { selector: { matchLabels: selected }, template: { metadata: { labels: selected }, spec } },
      },
    ],
  };
}
