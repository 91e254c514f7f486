import { messageOf } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import type { ClusterProbe } from "../cluster/gather.ts";

/** What is probed, and how. */
export interface ProbeOptions {
  /** An administrator's, of the cluster. */
  readonly kubeconfig: string;
  /** The node whose kubelet is to be reached through the control plane. */
  readonly node: string | undefined;
  /** Milliseconds for each request. */
  readonly timeout: number;
}

const LONGEST = 200;
/** Bytes: a kubelet, and who has a migrated cluster's keys, says what it likes. */
const LARGEST = 16 * 1024;

/**
 * One request to the control plane's /healthz, and one through it to a kubelet, as logs and exec go: directly or by a
 * tunnel. It never throws.
 */
export async function probeCluster(
  { kubeconfig, node, timeout }: ProbeOptions,
  signal: AbortSignal,
): Promise<ClusterProbe> {
  let client: KubernetesClient | undefined;
  try {
    client = createClient(loadKubeconfig({ text: kubeconfig }), {
      userAgent: "causeway-magnum-health",
      largestResponse: LARGEST,
    });
    const api = await healthAt(client, "/healthz", { timeout, signal });
    if (node === undefined || api !== "ok") return { api };
    const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy/healthz`;
    return { api, kubelet: { node, state: await healthAt(client, path, { timeout, signal }) } };
  } catch (error) {
    return { api: messageOf(error).slice(0, LONGEST) };
  } finally {
    await client?.close();
  }
}

async function healthAt(
  client: KubernetesClient,
  path: string,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<string> {
  const limit = AbortSignal.timeout(timeout);
  try {
    const answer = await client.request("GET", path, { signal: AbortSignal.any([signal, limit]) });
    const text = typeof answer === "string" ? answer.trim() : JSON.stringify(answer);
    return text === "" ? "ok" : text.slice(0, LONGEST);
  } catch (error) {
    if (limit.aborted) return `no response in ${timeout / 1000} s`;
    return messageOf(error).replaceAll(/\s+/g, " ").slice(0, LONGEST);
  }
}
