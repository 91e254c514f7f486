/**
 * What a listener's proxy does, read from Octavia's objects. Disabled parts are left out where HAProxy's configuration
 * has none of them.
 */
export interface Frontend {
  /** The listener's. */
  readonly id: string;
  readonly balancer: string;
  readonly protocol: "TCP" | "HTTP" | "HTTPS" | "TERMINATED_HTTPS";
  /** Where clients connect: the VIP, further VIPs and floating IPs. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** -1: no limit of its own. */
  readonly connectionLimit: number;
  /** Undefined: every client. */
  readonly allowedCidrs: readonly string[] | undefined;
  /** Milliseconds. */
  readonly clientTimeout: number;
  readonly connectTimeout: number;
  readonly memberTimeout: number;
  /** Names of the headers that are set. */
  readonly insertHeaders: ReadonlySet<string>;
  /** In their order. */
  readonly policies: readonly Policy[];
  readonly defaultPool: Backend | undefined;
  /** Of TERMINATED_HTTPS. */
  readonly tls: FrontendTls | undefined;
}

/** References of the key manager. */
export interface FrontendTls {
  readonly defaultRef: string | undefined;
  readonly sniRefs: readonly string[];
  readonly clientCaRef: string | undefined;
  readonly clientAuthentication: "NONE" | "OPTIONAL" | "MANDATORY";
  readonly ciphers: string | undefined;
  readonly versions: readonly string[] | undefined;
}

/** Octavia's `action` of an L7 policy. */
export type PolicyAction = "REJECT" | "REDIRECT_TO_URL" | "REDIRECT_PREFIX" | "REDIRECT_TO_POOL";

/** An L7 policy: the first one whose rules match decides. `code` is the status of a redirect. */
export interface Policy {
  readonly action: PolicyAction;
  /** All must match; never empty. */
  readonly rules: readonly Rule[];
  /** The URL, or the prefix. */
  readonly target: string;
  readonly code: number;
  readonly pool: Backend | undefined;
}

/** An L7 rule in Octavia's words; `type` is "PATH", "HEADER", …, and `compare` is "EQUAL_TO", "REGEX", …. */
export interface Rule {
  readonly type: string;
  readonly compare: string;
  readonly key: string;
  readonly value: string;
  readonly invert: boolean;
}

/** A pool. Its name is HAProxy's. */
export interface Backend {
  /** The pool's. */
  readonly id: string;
  readonly algorithm: string;
  readonly persistence: { readonly type: string; readonly cookie: string } | undefined;
  /** Of the PROXY protocol, which is sent first. */
  readonly proxyProtocol: 1 | 2 | undefined;
  readonly tls: { readonly clientRef: string | undefined; readonly caRef: string | undefined } | undefined;
  readonly members: readonly BackendMember[];
  readonly monitor: Monitor | undefined;
}

/** A member of a pool, as HAProxy's `server` lines have it. */
export interface BackendMember {
  readonly id: string;
  readonly address: string;
  readonly port: number;
  readonly weight: number;
  readonly backup: boolean;
  /** Disabled, or its monitor has found it down. */
  readonly down: boolean;
  /** Where its monitor sends requests: the member, unless it has a place of its own. */
  readonly probed: { readonly address: string; readonly port: number };
}

/** What a health monitor sends, and what it makes of the responses. */
export interface Monitor {
  readonly type: "TCP" | "HTTP" | "HTTPS" | "TLS-HELLO";
  /** Milliseconds between two probes of a member, and for one. */
  readonly delay: number;
  readonly timeout: number;
  /** So many successes make a member that was down usable; so many failures take it out. */
  readonly rise: number;
  readonly fall: number;
  readonly method: string;
  readonly path: string;
  readonly version: "1.0" | "1.1";
  readonly host: string | undefined;
  readonly codes: ReadonlySet<number>;
}
