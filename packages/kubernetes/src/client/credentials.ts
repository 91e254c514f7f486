import { CausewayError, readTextFile, unlessAborted, type Clock } from "@causeway/foundation";
import type { ClusterConfig } from "../config/interface.ts";
import { runExecPlugin } from "./exec-plugin.ts";

/** What a request is authenticated with. */
export interface Credentials {
  readonly token?: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** Where a client gets what its requests are authenticated with, since tokens expire. */
export interface CredentialSource {
  current(signal?: AbortSignal): Promise<Credentials>;
  /** Forgets what the server refused. True if `current` may now give something else. */
  refresh(): boolean;
}

/** Kubelets rotate projected tokens long before they expire; client-go reads them again every minute. */
const TOKEN_FILE_AGE = 60_000;

/**
 * The credentials of a kubeconfig's user: of its exec plugin, its token file (read again each minute), or fixed ones.
 */
export function credentialSource(config: ClusterConfig, clock: Clock): CredentialSource {
  if (config.exec) return cached(clock, (signal) => runExecPlugin(config, signal));
  if (config.tokenFile !== undefined) {
    const file = config.tokenFile;
    return cached(clock, async () => ({
      value: { ...certificateOf(config), token: readToken(file, config.token) },
      expires: clock.now() + TOKEN_FILE_AGE,
    }));
  }
  const fixed: Credentials = {
    ...certificateOf(config),
    ...(config.token === undefined ? {} : { token: config.token }),
  };
  return { current: () => Promise.resolve(fixed), refresh: () => false };
}

/** Credentials with the instant (ms) from which they must be fetched again; undefined: when refused. */
export interface ExpiringCredentials {
  readonly value: Credentials;
  readonly expires?: number;
}

function cached(clock: Clock, load: (signal?: AbortSignal) => Promise<ExpiringCredentials>): CredentialSource {
  let held: ExpiringCredentials | undefined;
  let loading: Promise<ExpiringCredentials> | undefined;
  return {
    async current(signal) {
      if (held && (held.expires === undefined || held.expires > clock.now())) return held.value;
      // Shared by all who wait, so it must not end with the first caller's signal.
      loading ??= load().finally(() => (loading = undefined));
      held = await unlessAborted(loading, signal);
      return held.value;
    },
    refresh() {
      held = undefined;
      return true;
    },
  };
}

function certificateOf(config: ClusterConfig): Credentials {
  return config.certificate === undefined || config.key === undefined
    ? {}
    : { certificate: config.certificate, key: config.key };
}

/** Bytes of a token file: more does not fit into a header. */
const LARGEST_TOKEN = 1024 * 1024;

function readToken(file: string, fallback: string | undefined): string {
  try {
    return readTextFile(file, LARGEST_TOKEN).trim();
  } catch (cause) {
    if (fallback !== undefined) return fallback;
    throw new CausewayError("KUBERNETES_TOKEN_FILE", `the token file ${file} cannot be read`, {
      cause,
      hint: "Check that the file exists and may be read by this user.",
    });
  }
}
