import { podsOf } from "./rollout.ts";
import type { ServiceCluster } from "./service-cluster.ts";

/** Seconds of output that are read, and lines of it: audit events are among them. */
const SECONDS = 180;
const LINES = 2_000;
/** Of each API server, since a tenant's requests decide how long lines of audit events are. */
const BYTES = 4 * 1024 * 1024;

/** What API servers in this namespace wrote lately. Throws where pods/log may not be read. */
export async function outputOf(
  { informers: { client }, pods }: Pick<ServiceCluster, "informers" | "pods">,
  namespace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = {
    container: "kube-apiserver",
    sinceSeconds: String(SECONDS),
    tailLines: String(LINES),
    limitBytes: String(BYTES),
  };
  const read = async ({ metadata }: { readonly metadata: { readonly name: string } }): Promise<string> => {
    const path = `/api/v1/namespaces/${namespace}/pods/${metadata.name}/log`;
    const text = await client.request("GET", path, { query, signal });
    return typeof text === "string" ? text : "";
  };
  return (await Promise.all(podsOf(pods.list(namespace), "kube-apiserver").map(read))).join("\n");
}
