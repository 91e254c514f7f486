import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { parse } from "yaml";
import { freePort } from "../support/free-ports.ts";

const YEAR = 365 * 86_400_000;

/**
 * What may be dialled through the tunnel: the cluster's nodes, pods (by the proxies of the API server) and Services.
 */
export const TUNNEL_NETWORKS: readonly string[] = ["10.6.0.0/16", "10.244.0.0/16", "10.96.0.0/12"];

export interface TunnelOptions {
  readonly dir: string;
  /** The folder that `causeway up --tunnel-sockets` reads. */
  readonly sockets: string;
  /** Of the workload cluster, whose API server reviews the agents' tokens. */
  readonly kubeconfig: string;
  readonly cluster: string;
  /** Starts a command of `causeway`. */
  readonly start: (...args: string[]) => unknown;
}

/** Starts the server of a tunnel into the cluster's networks, at the host of its API; the AddonSet with the agents. */
export async function startTunnel({ dir, sockets, kubeconfig, cluster, start }: TunnelOptions): Promise<object> {
  const { clusters } = parse(readFileSync(kubeconfig, "utf8")) as {
    readonly clusters: readonly { readonly cluster: { readonly server: string } }[];
  };
  const host = new URL(clusters[0]?.cluster.server ?? "").hostname;
  const authority = await createAuthority({ commonName: "tunnel-ca", lifetime: YEAR });
  const pair = await issueCertificate(authority, {
    commonName: "tunnel",
    ipAddresses: [host],
    lifetime: YEAR,
    usages: ["server"],
  });
  const keep = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const authentication = {
    kubeconfig,
    namespace: "kube-system",
    serviceAccount: "konnectivity-agent",
    audience: "system:konnectivity-server",
  };
  const tenant = {
    name: cluster,
    udsName: join(sockets, `default.${cluster}.sock`),
    authentication,
    allow: TUNNEL_NETWORKS,
  };
  const tenants = keep("tenants.yaml", JSON.stringify({ tenants: [tenant] }));
  const port = await freePort();
  const certificate = ["--cluster-cert", keep("tunnel.crt", pair.certificate)];
  const key = ["--cluster-key", keep("tunnel.key", pair.key)];
  const ports = ["--agent-port", `${port}`, "--health-port", "0", "--admin-port", "0"];
  start("run", "tunnel-server", "--tenants", tenants, ...ports, ...certificate, ...key);
  const catalogue = {
    name: "TunnelAgent",
    tunnelServer: host,
    tunnelPort: port,
    tunnelAuthority: authority.certificate,
  };
  return {
    apiVersion: "addons.causeway.dev/v1alpha1",
    kind: "AddonSet",
    metadata: { namespace: "default", name: `${cluster}-tunnel` },
    spec: { clusterName: cluster, addons: [{ name: "tunnel", catalogue }] },
  };
}
