/**
 * A control plane of runtime Pods: its pods are on a played node of a service cluster (test/programs), its workers are
 * real, and its API server reaches them by the tunnel alone.
 */
import { writeFileSync } from "node:fs";
import { createServer, connect, type Server } from "node:net";
import { join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { Pod, Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";
import { freePorts } from "../../support/free-ports.ts";
import { causeway, eventually, type Started } from "../../support/processes.ts";
import { applyAddons, awaitAddons } from "./addons.ts";
import type { Environment, Place } from "./interface.ts";
import { openNetwork } from "./network.ts";
import { startWorkers } from "./workers.ts";

const PREFIX = "10.87.0";
const DNS = "10.97.0.10";
/** As test/programs creates clusters. */
const POD_CIDR = "10.244.0.0/16";
const SERVICE_CIDR = "10.97.0.0/16";
const NAME = "tenant";
/** A node port. */
const PORT = 30_443;
const DAY = 86_400_000;
const TIMEOUT = 15 * 60_000;

export async function startPods(environment: Environment, dir: string): Promise<Place> {
  process.env["CAUSEWAY_PROGRAMS"] = JSON.stringify({ kubernetes: { dir: environment.binaries } });
  const { available, create, key, startWorld } = await import("../../programs/runtime-world.ts");
  const network = openNetwork({ prefix: PREFIX, name: "cwpods" });
  const { host } = network;
  const closing: (() => Promise<unknown> | void)[] = [() => network.close()];
  const close = async (): Promise<void> => {
    for (const end of closing) await end();
  };
  try {
    const authority = await createAuthority({ commonName: "tunnel-ca", lifetime: DAY });
    const [agentPort = 0, serverPort = 0] = await freePorts(2);
    const tunnel = {
      url: `https://127.0.0.1:${serverPort}`,
      certificateAuthority: authority.certificate,
      namespace: "causeway-system",
    };
    const world = await startWorld("Pods", {}, { members: 1 }, { tunnel });
    closing.unshift(() => world.close());
    await create(world, NAME, { endpoint: { host, port: PORT }, pods: { exposure: "NodePort" } });
    await eventually(TIMEOUT, async () => (await available(world, NAME)) && true);
    const keep = (name: string, text: string): string => {
      writeFileSync(join(dir, name), text, { mode: 0o600 });
      return join(dir, name);
    };
    const valueOf = async (secret: string, field: string): Promise<string> =>
      secretText(await world.client.get(Secret, key(secret)), field) ?? "";
    const kubeconfig = keep("admin.conf", await valueOf(`${NAME}-kubeconfig`, "value"));
    const clients = keep("clients.crt", await valueOf(`${NAME}-ca`, "tls.crt"));
    closing.unshift(await startNodePort(world.client, host));
    const server = await startTunnel({ authority, host, agentPort, serverPort, kubeconfig, clients, keep });
    closing.unshift(() => server.stop());
    const endpoint = `${host}:${PORT}`;
    const facts = {
      server: `https://${endpoint}`,
      version: environment.version,
      podCidr: POD_CIDR,
      serviceAddress: "10.97.0.1",
      dnsAddress: DNS,
      dnsDomain: "cluster.local",
    };
    const agent = {
      name: "TunnelAgent" as const,
      tunnelServer: host,
      tunnelPort: agentPort,
      tunnelAuthority: authority.certificate,
    };
    const where = { network, kubeconfig, endpoint, dns: DNS, environment, dir, routes: false };
    closing.unshift(await startWorkers(where));
    await applyAddons({ kubeconfig, dir }, facts, [{ name: "KubeProxy" }, { name: "CoreDNS" }, agent]);
    await awaitAddons(kubeconfig);
    return { kubeconfig, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface TunnelOf {
  readonly authority: KeyPair;
  readonly host: string;
  readonly agentPort: number;
  readonly serverPort: number;
  readonly kubeconfig: string;
  /** File of the authority of the API server's certificate towards the tunnel. */
  readonly clients: string;
  readonly keep: (name: string, text: string) => string;
}

/** The server of the tunnel, as a program next to the API server. */
async function startTunnel(of: TunnelOf): Promise<Started> {
  const { authority, keep, kubeconfig } = of;
  const pair = await issueCertificate(authority, {
    commonName: "tunnel",
    ipAddresses: ["127.0.0.1", of.host],
    lifetime: DAY,
    usages: ["server"],
  });
  const authentication = {
    kubeconfig,
    namespace: "kube-system",
    serviceAccount: "konnectivity-agent",
    audience: "system:konnectivity-server",
  };
  const allow = [`${PREFIX}.0/24`, SERVICE_CIDR, POD_CIDR];
  const tenant = { name: NAME, serverCaCert: of.clients, authentication, allow };
  const tenants = keep("tenants.yaml", JSON.stringify({ tenants: [tenant] }));
  const [crt, key] = [keep("tunnel.crt", pair.certificate), keep("tunnel.key", pair.key)];
  const ports = ["--agent-port", `${of.agentPort}`, "--server-port", `${of.serverPort}`];
  const none = ["--health-port", "0", "--admin-port", "0"];
  const pairs = ["--cluster-cert", crt, "--cluster-key", key, "--server-cert", crt, "--server-key", key];
  return causeway(["run", "tunnel-server", "--tenants", tenants, ...ports, ...none, ...pairs]);
}

/** The node port of the API at an address of this machine: to the pod of the API server. */
async function startNodePort(client: KubernetesClient, host: string): Promise<() => Promise<void>> {
  const labelSelector = "app.kubernetes.io/component=kube-apiserver";
  let target = "";
  const check = async (): Promise<boolean> => {
    const { items } = await client.list(Pod, { labelSelector });
    const ready = items.find(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
    target = ready?.status?.podIP ?? target;
    return target !== "";
  };
  await eventually(TIMEOUT, check);
  const timer = setInterval(() => void check().catch(() => {}), 1_000);
  const server: Server = createServer({ allowHalfOpen: true }, (from) => {
    const to = connect({ host: target, port: PORT, allowHalfOpen: true });
    for (const [one, other] of [[from, to] as const, [to, from] as const]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((done, reject) => {
    server.once("error", reject);
    server.listen(PORT, host, done);
  });
  return async () => {
    clearInterval(timer);
    server.close();
  };
}
