import {
  CausewayError,
  silentLog,
  systemClock,
  type Clock,
  type Log,
  type Metrics,
  InputError,
} from "@causeway/foundation";
import type { CloudConfig } from "./config/config.ts";
import { LiveConfig, type ReloadConfig } from "./config/live-config.ts";
import { Budget, type BudgetOptions } from "./http/budget.ts";
import { createExchange } from "./http/exchange.ts";
import { CallCounter } from "./http/stats.ts";
import { createLiveTransport } from "./http/live-transport.ts";
import { createServices, type Services } from "./services/services.ts";
import { describeService } from "./session/describe.ts";
import { createServiceClient, type ServiceClient } from "./session/client.ts";
import type { ServiceName } from "./types/service-name.ts";
import { Session } from "./session/session.ts";
import type { Cloud } from "./types/cloud.ts";
import type { CallOptions } from "./types/collection.ts";

/** The clock, the limits, and how credentials are read again. */
export interface ConnectOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Default "causeway". */
  readonly userAgent?: string;
  readonly budget?: BudgetOptions;
  readonly metrics?: Metrics;
  /**
   * While true, no whole resource (server, volume, load balancer, network, object, …) is deleted: CLOUD_DELETIONS_HELD.
   * Parts and links of resources, and everything of Keystone, are deleted. Read before each deletion.
   */
  readonly holdDeletions?: (() => boolean) | undefined;
  /**
   * Reads the config again where it came from, such as `() => loadCloudsYaml({ cloud })`. It is called before each
   * authentication (a token ends, or was refused) and when a certificate is refused, so that rotated credentials and
   * authorities are used without a restart. Certificate files are read again even without it.
   */
  readonly reload?: ReloadConfig;
}

/**
 * A cloud to call. Nothing is sent before the first call, which authenticates.
 * Throws CLOUD_CONFIG_INVALID when a certificate file cannot be read or auth_url is not a URL.
 * @example
 * const cloud = connectCloud(loadCloudsYaml({ cloud: "devcloud" }));
 * const servers = await cloud.compute.servers.all();
 * await cloud.close();
 */
export function connectCloud(config: CloudConfig, options: ConnectOptions = {}): Cloud {
  const { clock = systemClock, log = silentLog } = options;
  warnOfPlainHttp(config, log);
  const live = new LiveConfig(config, log, options.reload);
  const transport = createLiveTransport(live, { log, connections: options.budget?.inFlight ?? 16 });
  const counter = new CallCounter();
  const closing = new AbortController();
  const budget = new Budget(clock, options.budget);
  const exchange = createExchange({
    cloud: config.name,
    clock,
    log,
    userAgent: options.userAgent ?? "causeway",
    transport,
    budget,
    counter,
    metrics: options.metrics,
    holdDeletions: options.holdDeletions,
    secrets: () => secretsOf(live.current),
    closed: closing.signal,
  });
  const repeat = { clock, log, signal: closing.signal };
  const session = new Session(live, exchange, repeat);
  const client = (service: ServiceName): ServiceClient => createServiceClient(service, { session, exchange, repeat });
  const own: Omit<Cloud, keyof Services> = {
    name: config.name,
    get region() {
      return session.region;
    },
    projectId: (call) => projectOf(config, session, call),
    has: async (service, call) => (await session.endpoint(service, call?.signal)) !== undefined,
    describe: (service, call) => describeService(service, { session, exchange, repeat }, call),
    pausedUntil: (...services) => budget.pauseOf(services)?.until,
    pause: (...services) => budget.pauseOf(services),
    stats: () => counter.stats(),
    async close() {
      closing.abort(new CausewayError("CLOUD_CLOSED", `The connection to cloud ${config.name} has been closed.`));
      await transport.close();
    },
  };
  const currentUser = async (call?: CallOptions) => (await session.token(call?.signal)).userId;
  return createServices(own, { client, clock, currentUser });
}

async function projectOf(config: CloudConfig, session: Session, call: CallOptions | undefined): Promise<string> {
  const { projectId } = await session.token(call?.signal);
  if (projectId !== undefined) return projectId;
  throw new InputError("CLOUD_CONFIG_INVALID", `The credentials of cloud ${config.name} are for no project.`, {
    hint: "Set project_name with project_domain_name, or project_id, in the cloud's entry.",
  });
}

function secretsOf({ auth, tls }: CloudConfig): string[] {
  const key = tls?.key === undefined ? [] : [tls.key];
  switch (auth.type) {
    case "password":
      return [auth.password, ...key];
    case "token":
      return [auth.token, ...key];
    case "application_credential":
      return [auth.secret, ...key];
    case "oidc_access_token":
      return [auth.accessToken, ...key];
  }
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function warnOfPlainHttp(config: CloudConfig, log: Log): void {
  if (!URL.canParse(config.authUrl)) {
    throw new InputError("CLOUD_CONFIG_INVALID", `The auth_url of cloud ${config.name} is not a URL.`, {
      hint: "It looks like https://identity.example.org/v3.",
    });
  }
  const { protocol, hostname } = new URL(config.authUrl);
  if (protocol === "http:" && !LOOPBACK.test(hostname)) {
    log.warn("credentials travel in the clear: auth_url is plain http", { cloud: config.name, host: hostname });
  }
  if (config.tls?.verify === false) log.warn("the cloud's certificates are not checked", { cloud: config.name });
}
