import { whenAborted, type Clock, type Log, type Metrics } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { createAuthenticator } from "./authenticator.ts";
import { rulesByName } from "./policy/plan-names.ts";
import { readPolicy } from "./policy/plan-read.ts";
import type { Policy } from "./policy/policy.ts";
import { review } from "./review/review.ts";
import { serveWebhook } from "./server/server.ts";
import { fixed, fromConfigMap, fromFile, type Live, type LiveOptions } from "./settings/live.ts";
import type { Settings } from "./settings/settings.ts";
import { NO_SYNC, readSyncConfig, type SyncConfig } from "./sync/plan-config.ts";
import { createSynchronizer } from "./sync/controller.ts";

/** The policy, the synchronisation and the address of the webhook. */
export interface KeystoneAuthOptions {
  readonly settings: Settings;
  /** Undefined where `settings.needsCluster` is false. */
  readonly client: KubernetesClient | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  /** Called once it listens. */
  readonly onListening?: (port: number) => void;
}

/**
 * Serves the webhook until the signal aborts. Wrong settings end it before it listens.
 * @throws KEYSTONE_POLICY_INVALID, KEYSTONE_SYNC_INVALID, KEYSTONE_AUTH_CERTIFICATE, KEYSTONE_AUTH_PORT
 */
export async function runKeystoneAuth(options: KeystoneAuthOptions, signal: AbortSignal): Promise<void> {
  const { settings, client, metrics, clock, log } = options;
  for (const warning of settings.warnings) log.warn(warning);
  const policy = await livePolicy(options, signal);
  const sync = await liveSync(options, signal);
  const tls = settings.keystoneCaFile === undefined ? {} : { tls: { caFile: settings.keystoneCaFile } };
  const { recheck, outage, rate, userAgent, projects, domains } = settings;
  const limits = { ...(projects && { projects }), ...(domains && { domains }) };
  const authenticator = createAuthenticator(
    { name: "keystone", authUrl: settings.keystoneUrl, ...tls },
    { clock, log, metrics, userAgent, rate, recheck, outage, ...limits, roleMappings: () => sync.current.roleMappings },
  );
  const config = (): SyncConfig => sync.current;
  const onUser = client ? createSynchronizer({ client, config, clock, log, signal }) : () => Promise.resolve();
  const authenticate = (token: string) => authenticator.authenticate(token);
  const parts = { authenticate, policy: () => policy.current, onUser, log };
  try {
    const server = await serveWebhook({
      ...settings,
      review: (body) => review(parts, body),
      metrics,
      clock,
      log,
      signal,
    });
    log.info("the webhook listens", { host: settings.host, port: server.port });
    options.onListening?.(server.port);
    await whenAborted(signal);
    await server.close();
  } finally {
    authenticator.close();
  }
}

/** The file overrides the ConfigMap. */
async function livePolicy(
  { settings, client, clock, log }: KeystoneAuthOptions,
  signal: AbortSignal,
): Promise<Live<Policy>> {
  const read = (text: string): Policy => {
    const { policy, warnings } = readPolicy(text);
    for (const warning of warnings) log.warn("authorization policy", { warning });
    const rules = settings.domains === undefined ? rulesByName(policy) : [];
    if (rules.length > 0) {
      const warning = "names of users and projects in these rules are those of every domain";
      log.warn("authorization policy", {
        warning,
        rules,
        advice: "add domains to them, or use --allowed-domains or ids",
      });
    }
    return policy;
  };
  const live: LiveOptions<Policy> = { what: "authorization policy", read, absent: [], clock, log, signal };
  if (settings.policyFile !== undefined) return fromFile(settings.policyFile, live);
  if (settings.policyConfigMap === undefined || client === undefined) return fixed<Policy>([]);
  return fromConfigMap({ client, name: settings.policyConfigMap, key: "policies" }, live);
}

async function liveSync(
  { settings, client, clock, log }: KeystoneAuthOptions,
  signal: AbortSignal,
): Promise<Live<SyncConfig>> {
  const read = readSyncConfig;
  const live: LiveOptions<SyncConfig> = { what: "sync configuration", read, absent: NO_SYNC, clock, log, signal };
  if (settings.syncFile !== undefined) return fromFile(settings.syncFile, live);
  if (settings.syncConfigMap === undefined || client === undefined) return fixed(NO_SYNC);
  return fromConfigMap({ client, name: settings.syncConfigMap, key: "syncConfig" }, live);
}
