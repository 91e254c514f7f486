import type { KeyPair } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { Issuer } from "./issuer.ts";

export type Json = Record<string, unknown>;

export type ServerName = "kube-apiserver" | "causeway";

/** A running API server that the cases are held against. */
export interface Target {
  readonly name: ServerName;
  /** Base URL. */
  readonly url: string;
  /** Whom to trust at `url`, PEM. */
  readonly ca: string;
  /** Signs client certificates that the server accepts. */
  readonly authority: KeyPair;
  /** The file that audit events are written to, as AUDIT_POLICY says. */
  readonly auditLog: string;
  /** An issuer of tokens that the server believes, as its configuration says. */
  readonly issuer: Issuer;
  /** Forgets history up to now, as time would. */
  readonly compact: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface Answer {
  readonly code: number;
  readonly body: Json;
  /** The body as it came. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** An open watch. */
export interface Watch {
  /** The next events, within five seconds. */
  readonly take: (count: number) => Promise<Json[]>;
  /** All events until the server ends the watch, within five seconds. */
  readonly rest: () => Promise<Json[]>;
  readonly close: () => void;
}

/** A message, or a part of one, of a WebSocket. */
export interface Frame {
  readonly isLast: boolean;
  /** 1 text, 2 binary, 8 close, 9 ping, 10 pong. */
  readonly opcode: number;
  readonly payload: Buffer;
}

/** What a request for a WebSocket led to: one, when `code` is 101, or an ordinary answer. */
export interface UpgradeAnswer extends Answer {
  /** The next frames, within five seconds. */
  readonly take: (count: number) => Promise<Frame[]>;
  /** All frames until the server ends the connection, within five seconds. */
  readonly rest: () => Promise<Frame[]>;
  readonly send: (opcode: number, payload?: Buffer) => void;
  readonly close: () => void;
}

export interface CallExtras {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Bare HTTPS as one identity: no retries, no interpretation. Paths may carry a query. */
export interface Raw {
  readonly call: (method: string, path: string, body?: unknown, extras?: CallExtras) => Promise<Answer>;
  readonly get: (path: string, extras?: CallExtras) => Promise<Answer>;
  readonly post: (path: string, body: unknown, extras?: CallExtras) => Promise<Answer>;
  readonly put: (path: string, body: unknown, extras?: CallExtras) => Promise<Answer>;
  readonly delete: (path: string, body?: unknown) => Promise<Answer>;
  /** A PATCH of the given type; "apply" wants `fieldManager` in the query. */
  readonly patch: (path: string, type: "json" | "merge" | "strategic" | "apply", body: unknown) => Promise<Answer>;
  /** Events go to `listen` as they come, where one is given: `take` and `rest` have none then. */
  readonly watch: (path: string, listen?: (event: Json) => void) => Promise<Watch>;
  /** Asks for a WebSocket; a header of "" is not sent. */
  readonly upgrade: (path: string, headers?: Readonly<Record<string, string>>) => Promise<UpgradeAnswer>;
  readonly close: () => void;
}

export interface Identity {
  readonly user?: string;
  readonly groups?: readonly string[];
  /** A bearer token instead of a certificate. */
  readonly token?: string;
  /** Neither: an anonymous caller. */
  readonly anonymous?: true;
}

/** What a case has to work with. Namespace and clients are its own. */
export interface Context {
  readonly server: ServerName;
  readonly target: Target;
  readonly issuer: Issuer;
  /** system:masters. */
  readonly api: Raw;
  /** A fresh namespace, and paths within it. */
  readonly namespace: string;
  /** `/api/v1/namespaces/NAMESPACE/PLURAL[/NAME]`. */
  readonly core: (plural: string, name?: string) => string;
  /** `/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL[/NAME]`. */
  readonly apis: (groupVersion: string, plural: string, name?: string) => string;
  readonly as: (identity: Identity) => Promise<Raw>;
  readonly client: (identity?: Identity) => Promise<KubernetesClient>;
  /** A name that no other case uses. */
  readonly unique: (prefix: string) => string;
}

export interface ContractCase {
  readonly name: string;
  /** Servers on which this does not hold, with the reason. */
  readonly except?: { readonly server: ServerName; readonly reason: string };
  /** Why it cannot be run on this machine. */
  readonly missing?: string;
  /** How long it may take, in milliseconds, when that is more than usual. */
  readonly timeout?: number;
  readonly run: (context: Context) => Promise<void>;
}

/** Cases about one subject. */
export interface CaseGroup {
  readonly title: string;
  readonly cases: readonly ContractCase[];
}
