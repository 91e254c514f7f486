/**
 * Every controller is run by a test, not only planned: `NAME.test.ts` or `scenario.test.ts` in its folder, or the
 * scenario that the table names, which has the word for what the controller works on.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { controllersIn } from "./controller-shape.ts";

type Scenario = readonly [file: string, word: string];

const inClusterApi = (file: string, word: string): Scenario => [`packages/cluster-api/src/scenarios/${file}`, word];
const inProvider = (file: string, word: string): Scenario => [
  `packages/cluster-api-openstack/src/scenarios/${file}`,
  word,
];
const inServices = (file: string, word: string): Scenario => [
  `packages/cloud-controller-manager/src/scenarios/${file}`,
  word,
];
const ofVolumes = (word: string): Scenario => ["test/scenarios/long/volumes.test.ts", word];
const ofGroups = (word: string): Scenario => ["test/scenarios/long/group-volumes.test.ts", word];

/** By the folder of the controller, below packages/. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "addons/src/addonset": ["packages/addons/src/scenario.test.ts", "AddonSet"],
  "addons/src/selection": ["packages/addons/src/scenario.test.ts", "clusterSelector"],
  "causeway/src/fleet": ["test/scenarios/long/namespace.test.ts", "LoadBalancer"],
  "cloud-controller-manager/src/node": inServices("nodes.test.ts", "node"),
  "cloud-controller-manager/src/route": inServices("routes.test.ts", "route"),
  "cloud-controller-manager/src/service": inServices("load-balancer.test.ts", "Service"),
  "cloud-controller-manager/src/service/security-group": inServices("security-groups.test.ts", "lb-sg-"),
  "cluster-api-openstack/src/floatingippool": inProvider("floating-ips.test.ts", "OpenStackFloatingIPPool"),
  "cluster-api-openstack/src/openstackcluster": inProvider("infrastructure.test.ts", "OpenStackCluster"),
  "cluster-api-openstack/src/openstackmachine": inProvider("infrastructure.test.ts", "OpenStackMachine"),
  "cluster-api-openstack/src/openstackmachinetemplate": inProvider(
    "running-servers.test.ts",
    "OpenStackMachineTemplate",
  ),
  "cluster-api-openstack/src/openstackserver": inProvider("features.test.ts", "OpenStackServer"),
  "cluster-api/src/cluster": ["packages/cluster-api/src/cluster-api.test.ts", "Cluster"],
  "cluster-api/src/clusterclass": inClusterApi("topology.test.ts", "ClusterClass"),
  "cluster-api/src/clusterresourceset": inClusterApi("addons.test.ts", "ClusterResourceSet"),
  "cluster-api/src/csr-approver": ["packages/cluster-api/src/cluster-api.test.ts", "CertificateSigningRequest"],
  "cluster-api/src/extensionconfig": inClusterApi("runtime-hooks.test.ts", "ExtensionConfig"),
  "cluster-api/src/kubeadm-config": ["packages/cluster-api/src/cluster-api.test.ts", "KubeadmConfig"],
  "cluster-api/src/kubeadmcontrolplane": inClusterApi("control-plane.test.ts", "control plane"),
  "cluster-api/src/machine": inClusterApi("machine-faults.test.ts", "Machine"),
  "cluster-api/src/machinedeployment": inClusterApi("machinedeployment-faults.test.ts", "MachineDeployment"),
  "cluster-api/src/machinehealthcheck": inClusterApi("machinehealthcheck-faults.test.ts", "MachineHealthCheck"),
  "cluster-api/src/machinepool": inClusterApi("topology-pools.test.ts", "MachinePool"),
  "cluster-api/src/machineset": inClusterApi("machineset-faults.test.ts", "MachineSet"),
  "cluster-api/src/topology": inClusterApi("topology-faults.test.ts", "topology"),
  "csi-sidecars/src/attach": ofVolumes("VolumeAttachment"),
  "csi-sidecars/src/capacity": ofGroups("CSIStorageCapacity"),
  "csi-sidecars/src/group-snapshot": ofGroups("VolumeGroupSnapshot"),
  "csi-sidecars/src/group-snapshot-content": ofGroups("VolumeGroupSnapshotContent"),
  "csi-sidecars/src/modify": ofVolumes("VolumeAttributesClass"),
  "csi-sidecars/src/provision": ofVolumes("PersistentVolumeClaim"),
  "csi-sidecars/src/reclaim": ofVolumes("persistentVolumeReclaimPolicy"),
  "csi-sidecars/src/resize": ofVolumes("grown"),
  "csi-sidecars/src/snapshot": ofVolumes("VolumeSnapshot"),
  "csi-sidecars/src/snapshot-content": ofVolumes("VolumeSnapshotContent"),
  "hosted-control-plane/src/backup": ["test/programs/control-plane-backup.test.ts", "backup"],
  "hosted-control-plane/src/pods/hand-over": ["test/scenarios/move-control-planes.test.ts", "move"],
  "hosted-control-plane/src/pods/pool": ["packages/hosted-control-plane/src/pods/scenario.test.ts", "shared etcd"],
  "hosted-control-plane/src/controlplane": ["packages/hosted-control-plane/src/scenario.test.ts", "control plane"],
  "machine-agent/src/csinode": ofVolumes("CSINode"),
  "machine-agent/src/pods": ["packages/machine-agent/src/kubelet.test.ts", "pods"],
  "magnum-api/src/cluster": ["packages/magnum-api/src/magnum-api.test.ts", "clusters"],
  "octavia-ingress/src/gateway": ["packages/octavia-ingress/src/scenarios/gateway.test.ts", "Gateway"],
  "octavia-ingress/src/ingress": ["packages/octavia-ingress/src/scenarios/ingress.test.ts", "Ingress"],
  "openstack-operator/src/deployment": ["test/operator/bring-up.test.ts", "OpenStackDeployment"],
  "openstack-operator/src/maintenance": ["test/operator/maintenance.test.ts", "maintenance"],
  "workload-controllers/src/attributesclass": ofVolumes("VolumeAttributesClass"),
  "workload-controllers/src/endpoints": [
    "packages/workload-controllers/src/endpointslicemirroring/endpointslicemirroring.test.ts",
    "Endpoints",
  ],
  "workload-controllers/src/endpointslice": [
    "packages/workload-controllers/src/endpointslice/endpoints.test.ts",
    "EndpointSlice",
  ],
  "workload-controllers/src/persistentvolume": [
    "packages/workload-controllers/src/volumeclaim/volumeclaim.test.ts",
    "PersistentVolume",
  ],
};

/** Controllers without a scenario, and rows of the table that do not hold. */
export function checkControllerScenarios(
  root: string,
  scenarios: Readonly<Record<string, Scenario>> = SCENARIOS,
): string[] {
  const folders = controllersIn(globSync("packages/*/src/**/*.ts", { cwd: root }))
    .map((folder) => folder.replace(/^packages\//, ""))
    .toSorted();
  const own = folders.filter((folder) =>
    [`${basename(folder)}.test.ts`, "scenario.test.ts"].some((file) =>
      existsSync(join(root, "packages", folder, file)),
    ),
  );
  const without = folders
    .filter((folder) => !own.includes(folder) && scenarios[folder] === undefined)
    .map(
      (folder) => `packages/${folder}: write a scenario that runs it, or name one in scripts/controller-scenarios.ts`,
    );
  const rows = Object.entries(scenarios).flatMap(([folder, [file, word]]) => {
    if (!folders.includes(folder)) return [`scripts/controller-scenarios.ts: ${folder} is no controller`];
    if (own.includes(folder)) return [`scripts/controller-scenarios.ts: ${folder} has a scenario of its own`];
    const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
    return text.includes(word) ? [] : [`scripts/controller-scenarios.ts: ${file} has no "${word}" for ${folder}`];
  });
  return [...without, ...rows];
}
