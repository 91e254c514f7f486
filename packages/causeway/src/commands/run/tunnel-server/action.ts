import { randomUUID } from "node:crypto";
import { createSmallMetrics, messageOf, systemClock, whenAborted, type Log } from "@causeway/foundation";
import {
  invalidConfiguration,
  onlyTenant,
  readDuration,
  readPair,
  readRules,
  serveStatus,
  startTunnelServer,
  type ProxyStrategy,
  type Reviewer,
  type TunnelServer,
  type TunnelTenant,
} from "@causeway/reverse-tunnel";
import { readPort } from "./ports.ts";
import { commandLog } from "../../../terminal/text-log.ts";
import type { TunnelServerFlags } from "./command.ts";

/** Between two reads of the tenants (ms): a mounted Secret changes by a link, which no file event reports. */
const PAUSE = 5_000;

/**
 * Serves the tunnel until the signal aborts, and then as long as streams are open. @throws TUNNEL_CONFIG_INVALID,
 * TUNNEL_LISTEN_FAILED, KUBECONFIG_…
 */
export async function tunnelServer(flags: TunnelServerFlags, signal: AbortSignal): Promise<void> {
  const log = commandLog(flags.logLevel);
  const metrics = createSmallMetrics();
  // Without tokens no client is needed, which takes some megabytes.
  const reviews = hasTokens(flags) ? (await import("./reviews.ts")).createReviews({ metrics, log }) : undefined;
  const review: Reviewer = (source) => reviews?.reviewer(source);
  const tenants = await readAll(flags, review);
  const certificate = readPair(flags.clusterCert, flags.clusterKey);
  const serverPort = readPort("server-port", flags.serverPort);
  const serverPair = readPair(flags.serverCert, flags.serverKey);
  if (serverPort > 0 && !serverPair) throw invalidConfiguration("--server-port needs --server-cert and --server-key");
  const drainTimeout = readDuration("drain-timeout", flags.drainTimeout);
  const server = await startTunnelServer({
    serverId: flags.serverId ?? process.env["PROXY_SERVER_ID"] ?? randomUUID(),
    serverCount: Number(flags.serverCount),
    tenants,
    agents: {
      ...at(flags.agentBindAddress),
      port: readPort("agent-port", flags.agentPort),
      ...(certificate && { certificate }),
    },
    ...(serverPort > 0 && serverPair
      ? { servers: { ...at(flags.serverBindAddress), port: serverPort, certificate: serverPair } }
      : {}),
    strategies: strategiesOf(flags.proxyStrategies),
    agentWait: readDuration("agent-wait", flags.agentWait),
    expiredGrace: readDuration("expired-agent-grace", flags.expiredAgentGrace),
    keepalive: readDuration("keepalive-time", flags.keepaliveTime),
    deleteExistingSockets: flags.deleteExistingUdsFile !== "false",
    metrics,
    clock: systemClock,
    log,
  });
  const names = (): string[] => tenants.map(({ name }) => name);
  const unready = (): string | undefined =>
    names().some((name) => server.status(name).agents > 0) ? undefined : "no agent is connected";
  const health = await statusOf(
    { port: flags.healthPort, flag: "health-port", host: flags.healthBindAddress },
    { unready },
  );
  const admin = await statusOf(
    { port: flags.adminPort, flag: "admin-port", host: flags.adminBindAddress },
    { unready, metrics },
  );
  log.info("the tunnel server listens", { agents: server.agentPort, servers: server.serverPort, tenants: names() });
  try {
    if (flags.tenants === undefined) await whenAborted(signal);
    else await followTenants({ server, read: () => readAll(flags, review), log }, signal);
    const over = new AbortController();
    systemClock.sleep(drainTimeout, over.signal).then(
      () => over.abort(),
      () => {},
    );
    await server.drain(over.signal);
    over.abort();
  } finally {
    await Promise.all([server.close(), health?.close(), admin?.close()]);
    await reviews?.close();
  }
}

const hasTokens = ({ tenants, kubeconfig, authenticationAudience }: TunnelServerFlags): boolean =>
  tenants !== undefined || kubeconfig !== "" || authenticationAudience !== "";

async function readAll(flags: TunnelServerFlags, review: Reviewer): Promise<TunnelTenant[]> {
  if (flags.tenants !== undefined) return (await import("./tenants.ts")).readTenants(flags.tenants, review);
  const { udsName, serverCaCert, clusterCaCert, kubeconfig, authenticationAudience: audience } = flags;
  if (udsName === "" && flags.serverPort === "0")
    throw invalidConfiguration("--uds-name, --server-port or --tenants is required");
  const authentication =
    kubeconfig === "" && audience === ""
      ? undefined
      : { kubeconfig, audience, namespace: flags.agentNamespace, serviceAccount: flags.agentServiceAccount };
  const rules = readRules({ allow: flags.allowCidr, deny: flags.denyCidr, names: flags.allowName });
  return [onlyTenant({ udsName, serverCaCert, clusterCaCert, rules, authentication }, review)];
}

async function followTenants(
  { server, read, log }: { server: TunnelServer; read: () => Promise<TunnelTenant[]>; log: Log },
  signal: AbortSignal,
): Promise<void> {
  let problem = "";
  while (!signal.aborted) {
    await systemClock.sleep(PAUSE, signal).catch(() => {});
    try {
      if (!signal.aborted) await server.setTenants(await read());
      problem = "";
    } catch (error) {
      // The tenants that were read last remain.
      if (messageOf(error) !== problem) log.warn("the changed tenants are not used", { error: messageOf(error) });
      problem = messageOf(error);
    }
  }
}

function strategiesOf(text: string): ProxyStrategy[] {
  return text.split(",").map((name) => {
    if (name === "default" || name === "destHost" || name === "defaultRoute") return name;
    throw invalidConfiguration(`--proxy-strategies: ${JSON.stringify(name)} is not default, destHost or defaultRoute`);
  });
}

function statusOf(
  { port, flag, host }: { port: string; flag: string; host: string | undefined },
  what: Parameters<typeof serveStatus>[1],
) {
  const number = readPort(flag, port);
  return number === 0 ? undefined : serveStatus({ ...at(host), port: number }, what);
}

function at(host: string | undefined): { host?: string } {
  return host === undefined || host === "" ? {} : { host };
}
