import { request } from "node:http";
import { messageOf, parseBoundedJson, readBounded, refuseOddResponses } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Cluster } from "../contract/cluster.ts";
import { hostHeader, kubeletAddress } from "../kubelets/address.ts";
import { at, text } from "../json/json.ts";
import { runningContainers } from "./declared.ts";
import { readSummary, type RunningOf, type Summary } from "./summary.ts";

/** A kubelet measures about every ten seconds; metrics-server asks it every fifteen. */
const HELD = 15_000;
const TIMEOUT = 10_000;
/** A summary of 500 pods takes about 2 MiB. */
const LARGEST = 4 * 2 ** 20;
const DEEPEST = 32;
const AT_ONCE = 8;
/** After this time (ms) of one request no more nodes are queried: a tenant may have thousands that do not respond. */
const LONGEST = 30_000;
const PATH = "/stats/summary?only_cpu_and_memory=true";
/** Failures of one kubelet are logged once in this time. */
const QUIET = 600_000;

interface Held {
  readonly at: number;
  readonly summary: Promise<Summary | string>;
}

/** What kubelets returned lately, by name of the node. One question for many who ask within fifteen seconds. */
const held = new WeakMap<Cluster, Map<string, Held>>();
const logged = new WeakMap<Cluster, Map<string, number>>();

/** The summaries of real nodes, by name; a text says why there is none. Only the given nodes are queried. */
export async function scrape(
  cluster: Cluster,
  nodes: readonly KubeObject[],
): Promise<ReadonlyMap<string, Summary | string>> {
  const known = held.get(cluster) ?? new Map<string, Held>();
  held.set(cluster, known);
  const now = cluster.clock.now();
  for (const [name, entry] of known) if (now - entry.at >= HELD) known.delete(name);
  const found = new Map<string, Summary | string>();
  const left = nodes.values();
  const late = AbortSignal.timeout(LONGEST);
  const worker = async (): Promise<void> => {
    for (const node of left) {
      if (late.aborted) return;
      const { name } = node.metadata;
      const entry = known.get(name) ?? { at: now, summary: ask(cluster, node) };
      known.set(name, entry);
      found.set(name, await entry.summary);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, nodes.length) }, worker));
  return found;
}

async function ask(cluster: Cluster, node: KubeObject): Promise<Summary | string> {
  const { kubelets } = cluster;
  if (!kubelets) return "this server does not connect to kubelets";
  try {
    const address = kubeletAddress(node);
    const socket = await kubelets.connect(address.host, address.port, AbortSignal.timeout(TIMEOUT));
    try {
      const signal = AbortSignal.timeout(TIMEOUT);
      const { promise, resolve, reject } = Promise.withResolvers<Summary>();
      const sent = request({
        path: PATH,
        headers: { host: hostHeader(address) },
        createConnection: () => socket,
        signal,
      });
      sent.once("error", reject);
      refuseOddResponses(sent, reject);
      sent.once("response", (answer) => {
        if (answer.statusCode !== 200) return reject(new Error(`the kubelet responded with ${answer.statusCode}`));
        readBounded(answer as AsyncIterable<Uint8Array>, LARGEST)
          .then((body) => resolve(summaryOf(cluster, node.metadata.name, body)))
          .catch(reject);
      });
      sent.end();
      return await promise;
    } finally {
      socket.destroy();
    }
  } catch (error) {
    const why = messageOf(error);
    warn(cluster, node.metadata.name, why);
    return why;
  }
}

/** Reads the answer on the account of the cluster, whose nodes decide how large it is. */
function summaryOf(cluster: Cluster, node: string, body: Buffer): Summary {
  const runningOf: RunningOf = (namespace, name) => {
    const pod = cluster.store.get({ cluster: cluster.name, resource: "/pods", namespace, name })?.object;
    return pod && text(at(pod, "spec", "nodeName")) === node ? runningContainers(pod) : [];
  };
  const holder = { cluster: cluster.name, request: `usage of node ${node}` };
  return cluster.thread.run(holder, () => readSummary(parseBoundedJson(body.toString("utf8"), DEEPEST), runningOf));
}

function warn(cluster: Cluster, node: string, reason: string): void {
  const times = logged.get(cluster) ?? new Map<string, number>();
  logged.set(cluster, times);
  const now = cluster.clock.now();
  for (const [name, since] of times) if (now - since >= QUIET) times.delete(name);
  if (times.has(node)) return;
  times.set(node, now);
  cluster.log.warn("what a node uses cannot be read from its kubelet", { node, reason });
}
