import type { Clock, Log } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { heartbeat, register, reportStatus } from "./heartbeat.ts";
import type { BootedMachine } from "./interface.ts";
import { playPods } from "./pods/play.ts";

/** The name and version of a Node, and the cluster that it joins. */
export interface SimulatedNodeOptions {
  /** Who may do what a kubelet does for any Node. */
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly log: Log;
  /** As the kubelet reports it. Default "v1.34.0". */
  readonly version?: string;
}

/**
 * Registers a Node and plays its pods until the signal aborts, without a boot and a join: a Node of a cluster that a
 * test or a benchmark has made. @example `await simulateNode(machine, { client, clock, log }, signal)`
 */
export async function simulateNode(
  machine: BootedMachine,
  { client, clock, log, version = "v1.34.0" }: SimulatedNodeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name, id } = machine;
  const configuration = {
    nodeName: name,
    token: "",
    server: "",
    caCertHashes: [],
    taints: [],
    labels: {},
    kubeletArgs: {},
  };
  const identity = { nodeName: name, server: "", authority: "", certificate: "", key: "" };
  const reporting = { name, version, clock, log, signal };
  await register(client, { identity, configuration }, signal);
  await reportStatus(client, machine, reporting);
  await Promise.all([
    heartbeat(client, machine, reporting),
    playPods(client, { nodeName: name, machineId: id, clock, log }, signal),
  ]);
}
