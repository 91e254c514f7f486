import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { startPod, startSnapshotController } from "../../bench/volumes/processes.ts";
import type { Rig } from "../../nodes/rig.ts";
import { kubectl } from "../../support/processes.ts";

const DRIVER = "cinder.csi.openstack.org";
const FOLDER = `/var/lib/kubelet/plugins/${DRIVER}`;

/** What upstream's driver is started from. */
export interface UpstreamPrograms {
  /** cinder-csi-plugin. */
  readonly driver: string;
  /** The folder of the stock sidecars, the snapshot controller and the CRDs of snapshots. */
  readonly sidecars: string;
  /** The image of the node part. */
  readonly image: string;
  /** The image of this checkout, which registers the node part: node-driver-registrar cannot be built here. */
  readonly registrar: string;
}

/**
 * Runs cinder-csi-plugin in a cluster whose volumes nothing else serves: its controller with the stock sidecars as
 * processes of this host, its node part as a DaemonSet. Returns what ends the processes.
 */
export async function startUpstream(rig: Rig, programs: UpstreamPrograms): Promise<() => Promise<void>> {
  const crds = join(programs.sidecars, "crds");
  for (const file of readdirSync(crds).filter((name) => name.startsWith("snapshot.storage")))
    kubectl(rig.kubeconfig, "create", "-f", join(crds, file));
  rig.apply(csiDriver());
  rig.apply(nodeConfig());
  rig.apply(nodePlugin(programs));
  const files = rig.dir;
  const { kubeconfig } = rig;
  const { sidecars } = programs;
  const snapshots = startSnapshotController({ files, kubeconfig, sidecars });
  const from = { side: "upstream" as const, cloudConf: cloudConf(rig.dir), files, kubeconfig };
  const pod = await startPod({ ...from, upstream: programs.driver, sidecars, cluster: "e2e" });
  return async () => {
    await pod.stop();
    snapshots.kill("SIGKILL");
  };
}

/** Of the project's member. */
function cloudConf(dir: string): string {
  const file = join(dir, "clouds.yaml");
  const { clouds } = parse(readFileSync(file, "utf8")) as { readonly clouds: Readonly<Record<string, unknown>> };
  const entry = Object.keys(clouds).find((name) => !name.endsWith("-admin"));
  const path = join(dir, "upstream.conf");
  writeFileSync(path, `[Global]\nuse-clouds=true\nclouds-file=${file}\ncloud=${entry}\n`, { mode: 0o600 });
  return path;
}

function csiDriver(): object {
  const spec = { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ["Persistent"] };
  return { apiVersion: "storage.k8s.io/v1", kind: "CSIDriver", metadata: { name: DRIVER }, spec };
}

const named = (name: string) => ({ name, namespace: "kube-system" });

/** Without credentials: the node part reads where metadata is. */
function nodeConfig(): object {
  const data = { "cloud.conf": "[Metadata]\nsearch-order=metadataService\n" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: named("csi-cinder-node"), data };
}

const REGISTRAR = `
import { serveRegistration } from "@causeway/csi";
const { refused } = await serveRegistration({ folder: "/registration", name: "${DRIVER}", endpoint: "${FOLDER}/csi.sock" });
await refused;
`;

/** As upstream's manifest. */
function nodePlugin({ image, registrar }: UpstreamPrograms): object {
  const labels = { app: "csi-cinder-nodeplugin" };
  const folder = (name: string, path: string, type = "Directory") => ({ name, hostPath: { path, type } });
  const plugin = {
    name: "cinder-csi-plugin",
    image,
    args: [
      "--endpoint=unix:///csi/csi.sock",
      "--cloud-config=/etc/config/cloud.conf",
      "--provide-controller-service=false",
      "-v=1",
    ],
    securityContext: { privileged: true },
    volumeMounts: [
      { name: "socket", mountPath: "/csi" },
      { name: "kubelet", mountPath: "/var/lib/kubelet", mountPropagation: "Bidirectional" },
      { name: "dev", mountPath: "/dev", mountPropagation: "HostToContainer" },
      { name: "config", mountPath: "/etc/config", readOnly: true },
    ],
  };
  const registers = {
    name: "registrar",
    image: registrar,
    command: ["/usr/bin/node", "--input-type=module", "-e", REGISTRAR],
    workingDir: "/usr/lib/causeway",
    securityContext: { runAsUser: 0 },
    volumeMounts: [{ name: "registration", mountPath: "/registration" }],
  };
  const spec = {
    hostNetwork: true,
    tolerations: [{ operator: "Exists" }],
    containers: [plugin, registers],
    volumes: [
      folder("socket", FOLDER, "DirectoryOrCreate"),
      folder("registration", "/var/lib/kubelet/plugins_registry"),
      folder("kubelet", "/var/lib/kubelet"),
      folder("dev", "/dev"),
      { name: "config", configMap: { name: "csi-cinder-node" } },
    ],
  };
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: named("csi-cinder-nodeplugin"),
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}
