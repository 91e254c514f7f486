import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import type { Rig } from "./rig.ts";

const execute = promisify(execFile);
const PORT = 10250;

/** A Node and the server that it is, whose network namespace this host has. */
export interface RealNode {
  readonly name: string;
  readonly address: string;
  readonly server: string;
}

/** The cluster's Nodes. */
export function realNodes(rig: Rig): readonly RealNode[] {
  const { items } = JSON.parse(rig.workload("get", "nodes", "-o", "json")) as { readonly items: readonly NodeView[] };
  return items.map(({ metadata: { name }, spec: { providerID = "" }, status: { addresses } }) => {
    const address = addresses.find(({ type }) => type === "InternalIP");
    const server = providerID.split("/").at(-1);
    if (!server || address === undefined) throw new Error(`Node ${name} has no provider ID or no address`);
    return { name, address: address.address, server };
  });
}

interface NodeView {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly providerID?: string };
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
}

/** Runs a program where the server of a Node would: in its network. */
export async function runOn({ server }: RealNode, ...command: readonly string[]): Promise<string> {
  const { stdout } = await execute("ip", ["netns", "exec", `vm-${server}`, ...command]);
  return stdout;
}

/** Requests that a kubelet serves now whose path has this first part, such as "containerLogs". */
export async function requestsTo(rig: Rig, node: RealNode, path: string): Promise<number> {
  const metrics = await kubeletMetrics(rig, node);
  const pattern = new RegExp(`^kubelet_http_inflight_requests\\{[^}]*path="${path}"[^}]*\\} (\\d+)$`, "gm");
  return [...metrics.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** A kubelet's metrics, read in its node's own network as the administrator. */
async function kubeletMetrics(rig: Rig, node: RealNode): Promise<string> {
  const { users } = parse(readFileSync(rig.kubeconfig, "utf8")) as { readonly users: readonly { user: UserView }[] };
  const user = users[0]?.user;
  const dir = mkdtempSync(join(rig.dir, "kubelet-"));
  try {
    const files = { crt: user?.["client-certificate-data"], key: user?.["client-key-data"] };
    for (const [name, data = ""] of Object.entries(files))
      writeFileSync(join(dir, name), Buffer.from(data, "base64"), { mode: 0o600 });
    const identity = ["--cert", join(dir, "crt"), "--key", join(dir, "key")];
    return await runOn(node, "curl", "-sSfk", ...identity, `https://${node.address}:${PORT}/metrics`);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

interface UserView {
  readonly "client-certificate-data"?: string;
  readonly "client-key-data"?: string;
}
