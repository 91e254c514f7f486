import { array, at, isRecord, record, text, type Json } from "../../json/json.ts";
import { fill, type Rules } from "./rule.ts";

const ISCSI = fill({ iscsiInterface: "default" });
const RBD = fill({ pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" });
const SCALE_IO = fill({ storageMode: "ThinProvisioned", fsType: "xfs" });
const AZURE_DISK = fill({ cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" });
const TCP = fill({ protocol: "TCP" });

/** Bounds of containers: what is not said follows from what is. */
function fillLimits(item: Json): void {
  if (item["type"] !== "Container") return;
  const standard: Json = { ...record(item["max"]), ...record(item["default"]) };
  const asked = { ...record(item["min"]), ...standard, ...record(item["defaultRequest"]) };
  if (Object.keys(standard).length > 0) item["default"] = standard;
  if (Object.keys(asked).length > 0) item["defaultRequest"] = asked;
}

/** What is in the template labels and selects a controller that says nothing of its own. */
function fillController(controller: Json): void {
  const spec = record(controller["spec"]);
  const template = record(record(spec["template"])["metadata"]);
  if (!isRecord(template["labels"])) return;
  const labels = template["labels"];
  if (Object.keys(record(spec["selector"])).length === 0) spec["selector"] = { ...labels };
  const metadata = record(controller["metadata"]);
  if (Object.keys(record(metadata["labels"])).length === 0) metadata["labels"] = { ...labels };
}

const REACHABLE = ["NodePort", "LoadBalancer"];

/** What of a service is a default; addresses and families come with their allocation. */
function fillService(spec: Json): void {
  fill({ sessionAffinity: "None", type: "ClusterIP" })(spec);
  if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"] === "ClientIP")
    fill({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } } })(spec);
  const isReachable = REACHABLE.includes(text(spec["type"]));
  const isExternal = isReachable || (spec["type"] === "ClusterIP" && array(spec["externalIPs"]).length > 0);
  if (isExternal) spec["externalTrafficPolicy"] ??= "Cluster";
  if (isReachable || spec["type"] === "ClusterIP") spec["internalTrafficPolicy"] ??= "Cluster";
  if (spec["type"] === "LoadBalancer") spec["allocateLoadBalancerNodePorts"] ??= true;
}

/** The first of a node's pod ranges is said twice: alone too, which counts where the two differ. */
function fillRanges(spec: Json): void {
  const ranges = array(spec["podCIDRs"]);
  const alone = text(spec["podCIDR"]);
  if (alone !== "" && ranges[0] !== alone) spec["podCIDRs"] = [alone];
  else if (alone === "" && ranges.length > 0) spec["podCIDR"] = ranges[0];
}

/** Defaults of the core group other than those of pods, by struct of the built-in tables. */
export const CORE_DEFAULTS: Rules = {
  "core.ReplicationController": fillController,
  "core.ReplicationControllerSpec": fill({ replicas: 1 }),
  "core.LimitRangeItem": fillLimits,
  "core.PersistentVolumeSpec": fill({ persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" }),
  "core.PersistentVolumeStatus": fill({ phase: "Pending" }),
  "core.PersistentVolumeClaimSpec": fill({ volumeMode: "Filesystem" }),
  "core.PersistentVolumeClaimStatus": fill({ phase: "Pending" }),
  "core.EndpointPort": TCP,
  "core.NodeSpec": fillRanges,
  "core.NodeStatus"(status) {
    if (isRecord(status["capacity"])) status["allocatable"] ??= { ...status["capacity"] };
  },
  "core.ISCSIVolumeSource": ISCSI,
  "core.ISCSIPersistentVolumeSource": ISCSI,
  "core.RBDVolumeSource": RBD,
  "core.RBDPersistentVolumeSource": RBD,
  "core.ScaleIOVolumeSource": SCALE_IO,
  "core.ScaleIOPersistentVolumeSource": fill({ storageMode: "ThinProvisioned", fsType: "xfs" }),
  "core.AzureDiskVolumeSource": AZURE_DISK,
  "core.Secret"(secret) {
    if (!text(secret["type"])) secret["type"] = "Opaque";
    if (!isRecord(secret["stringData"])) return;
    const plain = Object.entries(secret["stringData"]);
    const encoded = plain.map(([key, value]) => [key, Buffer.from(text(value)).toString("base64")]);
    secret["data"] = { ...record(secret["data"]), ...(Object.fromEntries(encoded) as Json) };
    delete secret["stringData"];
  },
  "core.Service"(service) {
    // Addresses of a load balancer are virtual ones unless it says otherwise (KEP-1860).
    if (record(service["spec"])["type"] !== "LoadBalancer") return;
    for (const point of array(at(service["status"], "loadBalancer", "ingress")).filter(isRecord))
      if (text(point["ip"])) point["ipMode"] ??= "VIP";
  },
  "core.ServiceSpec": fillService,
  "core.ServicePort"(port) {
    TCP(port);
    const target = port["targetPort"];
    if (target === undefined || target === "" || target === 0) port["targetPort"] = port["port"];
  },
  "core.Namespace"(namespace) {
    const metadata = record(namespace["metadata"]);
    if (!text(metadata["name"])) return;
    metadata["labels"] = { ...record(metadata["labels"]), "kubernetes.io/metadata.name": metadata["name"] };
  },
  "core.NamespaceStatus": fill({ phase: "Active" }),
};
