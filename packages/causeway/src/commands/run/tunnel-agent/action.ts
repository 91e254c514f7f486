import { randomUUID } from "node:crypto";
import { createSmallMetrics, systemClock, whenAborted } from "@causeway/foundation";
import {
  readDuration,
  readFile,
  readPair,
  readRules,
  serveStatus,
  startTunnelAgent,
  type CallOptions,
} from "@causeway/reverse-tunnel";
import { readPort } from "../tunnel-server/ports.ts";
import { commandLog } from "../../../terminal/text-log.ts";
import type { TunnelAgentFlags } from "./command.ts";

/**
 * Serves dials until the signal aborts, and then as long as streams are open. @throws TUNNEL_CONFIG_INVALID,
 * TUNNEL_LISTEN_FAILED
 */
export async function tunnelAgent(flags: TunnelAgentFlags, signal: AbortSignal): Promise<void> {
  const log = commandLog(flags.logLevel);
  const metrics = createSmallMetrics();
  const agentId = flags.agentId ?? process.env["PROXY_AGENT_ID"] ?? randomUUID();
  const port = readPort("proxy-server-port", flags.proxyServerPort);
  const keepalive = readDuration("keepalive-time", flags.keepaliveTime);
  const target = (): CallOptions => ({
    host: flags.proxyServerHost,
    port,
    ...tlsOf(flags),
    agentId,
    agentIdentifiers: flags.agentIdentifiers,
    ...tokenOf(flags.serviceAccountTokenPath),
    keepalive,
  });
  // Files that cannot be read fail at the start, not at the first connection.
  target();
  const drainTimeout = readDuration("drain-timeout", flags.drainTimeout);
  const agent = startTunnelAgent({
    target,
    rules: readRules({ allow: flags.allowCidr, deny: flags.denyCidr, names: flags.allowName }),
    syncInterval: readDuration("sync-interval", flags.syncInterval),
    syncIntervalCap: readDuration("sync-interval-cap", flags.syncIntervalCap),
    syncForever: flags.syncForever === true,
    metrics,
    clock: systemClock,
    log,
  });
  const unready = (): string | undefined => (agent.connections > 0 ? undefined : "no server is connected");
  const status = async (flag: string, text: string, host: string | undefined, withMetrics: boolean) => {
    const number = readPort(flag, text);
    const where = { ...(host === undefined ? {} : { host }), port: number };
    return number === 0 ? undefined : serveStatus(where, { unready, ...(withMetrics ? { metrics } : {}) });
  };
  try {
    const health = await status("health-server-port", flags.healthServerPort, flags.healthServerHost, false);
    const admin = await status("admin-server-port", flags.adminServerPort, flags.adminBindAddress, true);
    await whenAborted(signal);
    const over = new AbortController();
    systemClock.sleep(drainTimeout, over.signal).then(
      () => over.abort(),
      () => {},
    );
    await agent.drain(over.signal);
    over.abort();
    await Promise.all([health?.close(), admin?.close()]);
  } finally {
    await agent.close();
  }
}

function tlsOf(flags: TunnelAgentFlags): Pick<CallOptions, "tls"> {
  if (flags.caCert === "") return {};
  const pair = readPair(flags.agentCert, flags.agentKey);
  return {
    tls: {
      ca: readFile(flags.caCert, "the authority"),
      ...(pair && { cert: pair.certificate, key: pair.key }),
      ...(flags.alpnProto && { alpn: flags.alpnProto }),
    },
  };
}

function tokenOf(path: string | undefined): { token?: string } {
  return path === undefined ? {} : { token: readFile(path, "the token").trim() };
}
