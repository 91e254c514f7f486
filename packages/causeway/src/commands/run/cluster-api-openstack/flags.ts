import { InputError, messageOf, readTextFile } from "@causeway/foundation";
import { readShards } from "../serving/shared-work.ts";
import type { ProviderFlags } from "./command.ts";

/** Leader election; durations in milliseconds. */
export interface Election {
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
}

/** An address to listen at. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The flags after they were checked. */
export interface Settings {
  /** Undefined: work without being elected. */
  readonly election: Election | undefined;
  readonly health: Address | undefined;
  readonly diagnostics: Address | undefined;
  readonly webhookPort: number;
  /** Undefined: all namespaces are this process's. */
  readonly shards: number | undefined;
  /** PEM of authorities for clouds whose Secret has none. */
  readonly ca: string | undefined;
}

/** @throws FLAG_INVALID, which names the flag */
export function readFlags(flags: ProviderFlags): Settings {
  return {
    election: flags.leaderElect === "true" ? electionOf(flags) : undefined,
    health: addressOf("health-addr", flags.healthAddr),
    diagnostics: addressOf("diagnostics-address", flags.diagnosticsAddress),
    webhookPort: portOf("webhook-port", flags.webhookPort),
    shards: readShards(flags.shards),
    ca: flags.caCerts === undefined ? undefined : authorities(flags.caCerts),
  };
}

function electionOf(flags: ProviderFlags): Election {
  const election = {
    leaseDuration: duration("leader-elect-lease-duration", flags.leaderElectLeaseDuration),
    renewDeadline: duration("leader-elect-renew-deadline", flags.leaderElectRenewDeadline),
    retryPeriod: duration("leader-elect-retry-period", flags.leaderElectRetryPeriod),
  };
  if (election.renewDeadline >= election.leaseDuration)
    throw invalid("leader-elect-renew-deadline", "less than the lease duration");
  if (election.retryPeriod >= election.renewDeadline)
    throw invalid("leader-elect-retry-period", "less than the renew deadline");
  return election;
}

/** Whole hours, minutes and seconds, as Kubernetes' flags have them: "1m30s". */
function duration(flag: string, text: string): number {
  const [whole, h, m, s] = /^(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?$/.exec(text) ?? [];
  const ms = ((Number(h ?? 0) * 60 + Number(m ?? 0)) * 60 + Number(s ?? 0)) * 1000;
  if (!whole || ms === 0) throw invalid(flag, `a duration such as 15s; it is ${JSON.stringify(text)}`);
  return ms;
}

/** "HOST:PORT" or ":PORT"; "0" is nowhere. */
function addressOf(flag: string, text: string): Address | undefined {
  if (text === "0") return undefined;
  const [, host, port] = /^\[?([^[\]]*?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || port === undefined)
    throw invalid(flag, `an address with a port, or 0; it is ${JSON.stringify(text)}`);
  return { host: host === "" ? "0.0.0.0" : host, port: portOf(flag, port) };
}

function portOf(flag: string, text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw invalid(flag, `a port from 0 to 65535; it is ${JSON.stringify(text)}`);
}

function authorities(path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    throw invalid("ca-certs", `a file with certificates; ${path} cannot be read: ${messageOf(error)}`);
  }
}

function invalid(flag: string, wanted: string): InputError {
  return new InputError("FLAG_INVALID", `--${flag} must be ${wanted}.`, {
    hint: "Correct the flag; --help lists its values.",
  });
}
