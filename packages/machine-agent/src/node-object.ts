import { timestamp, type Condition, type Node, type Taint } from "@causeway/kubernetes";
import type { BootedMachine } from "./interface.ts";
import type { JoinConfiguration } from "./join-configuration.ts";
import { SIMULATED_LABEL } from "./pods/annotations.ts";

/**
 * The taint that a kubelet with --cloud-provider=external registers with, until the cloud controller has seen its node.
 */
const uninitializedTaint: Taint = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};

/** The Node that a kubelet registers. With an external cloud provider it knows its name, not its providerID. */
export function registeredNode(name: string, configuration: JoinConfiguration): Node {
  const external = configuration.kubeletArgs["cloud-provider"] === "external";
  const providerId = configuration.kubeletArgs["provider-id"];
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        [SIMULATED_LABEL]: "true",
        ...configuration.labels,
      },
      annotations: {
        // Volumes are attached by the controller, not by the kubelet.
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        ...(external ? providedAddress(configuration) : {}),
      },
    },
    spec: {
      taints: [...(external ? [uninitializedTaint] : []), ...configuration.taints.map((t) => ({ ...t }))],
      ...(providerId === undefined || providerId === "" ? {} : { providerID: providerId }),
    },
  };
}

function providedAddress(configuration: JoinConfiguration): Record<string, string> {
  const given = configuration.kubeletArgs["node-ip"];
  return given === undefined || given === "" ? {} : { "alpha.kubernetes.io/provided-node-ip": given };
}

/** The parts of a node's status that its kubelet reports. Addresses but the host name are the cloud controller's. */
export function reportedStatus(
  machine: BootedMachine,
  report: { name: string; version: string; now: number; before: Node["status"] },
): NonNullable<Node["status"]> {
  const { cpu, memoryMiB, diskGiB } = machine.resources;
  const resources = {
    cpu: String(cpu),
    memory: `${memoryMiB * 1024}Ki`,
    "ephemeral-storage": `${diskGiB * 1024 * 1024}Ki`,
    pods: "110",
  };
  return {
    addresses: report.before?.addresses ?? [{ type: "Hostname", address: report.name }],
    capacity: resources,
    allocatable: resources,
    conditions: conditions(report.now, (report.before?.conditions ?? []) as readonly Condition[]),
    nodeInfo: {
      machineID: machine.id.replaceAll("-", ""),
      systemUUID: machine.id,
      bootID: machine.id,
      kernelVersion: "6.1.0",
      osImage: "Causeway machine agent",
      containerRuntimeVersion: "causeway://none",
      kubeletVersion: report.version,
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    },
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
  };
}

const healthy = [
  ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
  ["Ready", "True", "KubeletReady", "kubelet is posting ready status"],
] as const;

function conditions(now: number, before: readonly Condition[]): NonNullable<NonNullable<Node["status"]>["conditions"]> {
  const time = timestamp(now);
  return healthy.map(([type, status, reason, message]) => {
    const old = before.find((c) => c.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : time;
    return { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime };
  });
}
