import { createHash, createPublicKey } from "node:crypto";
import { canonicalJson, type KeyPair } from "@causeway/foundation";
import type { HostedControlPlane } from "@causeway/api";
import type { BackupSpec, RestoreSpec } from "./backup-spec.ts";
import type { ControlPlaneFlags } from "./flags.ts";

/** As in spec.runtime of a HostedControlPlane. */
export type RuntimeName = "Embedded" | "Process" | "Pods";

/** What a hosted control plane must be, whatever runs it. */
export interface ControlPlaneSpec {
  /** Unique over the management cluster: "NAMESPACE.NAME", as no namespace has a dot. */
  readonly id: string;
  /** "v1.34.0" */
  readonly version: string;
  /** Which runtime runs it; immutable. Undefined: the default one. */
  readonly runtime?: RuntimeName;
  readonly authority: KeyPair;
  /** The root of the front proxy's certificate. While it is rotated its certificate is two: the first one signs. */
  readonly frontProxy?: KeyPair;
  /** PEM private key that signs service-account tokens. */
  readonly serviceAccountKey: string;
  /** While roots are rotated: those that are believed next to `authority` and `serviceAccountKey`. */
  readonly rotation?: ControlPlaneRotation;
  /** The roots that are being rotated, for backups: all that is needed to continue with the rotation. */
  readonly rotating?: Readonly<Partial<Record<"ca" | "sa" | "proxy", RotatingRoot>>>;
  /** Where the rotation of its roots is: those that only a runtime knows go along. Undefined: there was none. */
  readonly rotationStage?: AuthorityRotation;
  readonly endpoint: { readonly host: string; readonly port: number };
  /** Networks that reach the API. Undefined: all. Runtime Pods only; others refuse it. */
  readonly allowedCidrs?: readonly string[];
  readonly serviceCidr: string;
  readonly podCidr?: string;
  readonly dnsDomain: string;
  /** More names and addresses for the serving certificate. */
  readonly names: readonly string[];
  readonly limits: ControlPlaneLimits;
  /** Bytes of `limits` where the object names them: a shared etcd has other defaults. Runtime Pods only. */
  readonly storageBudget?: number;
  /** An etcd that exists is joined, in place of one of its own. */
  readonly join?: ControlPlaneJoin;
  /** Who is believed in addition to its own identities. */
  readonly authentication: ControlPlaneAuthentication;
  /** Where the tenant wants its audit events. */
  readonly audit?: AuditSink;
  /** The process that serves it: one that it shares with others, or its own. */
  readonly worker: "shared" | "own";
  /** API servers; 0: it hibernates. Runtimes other than Pods run one. */
  readonly replicas: number;
  /** Settings of Kubernetes' own programs. The embedded runtime has none of them. */
  readonly flags?: ControlPlaneFlags;
  /** Settings of runtime Pods. */
  readonly pods?: HostedControlPlane["spec"]["pods"];
  /** How it is backed up. Not in the embedded runtime. */
  readonly backup?: BackupSpec;
  /** It is created from a backup. Not in the embedded runtime. */
  readonly restore?: RestoreSpec;
  /** It served before: its data exists, and is never replaced by nothing. */
  readonly initialized?: true;
}

/** The roots that come, or those that were. */
export interface ControlPlaneRotation {
  /** PEM certificates of authorities that are trusted too. */
  readonly trusted: readonly string[];
  /** Signs what clients and kubelets verify: the older authority, which all of them know. */
  readonly serving: KeyPair;
  /** PEM public keys whose service-account tokens are believed too. */
  readonly accountKeys: readonly string[];
}

/** Where one root is in its rotation, and the pair next to the one that signs. */
export interface RotatingRoot {
  readonly stage: AuthorityRotation["stage"];
  /** A time (RFC 3339) that no other rotation has. */
  readonly rotation: string;
  /** The next one in stage "trust", the old one in stage "sign". */
  readonly other?: KeyPair;
}

/** How far a rotation is: both are trusted, the new one signs, the old one is given up, or it has ended. */
export interface AuthorityRotation {
  /** A time (RFC 3339) that no other rotation has. */
  readonly id: string;
  readonly stage: "single" | "trust" | "sign" | "retire";
}

/** PEM: every authority that a control plane trusts, the one that signs first. */
export function trustedBy({ authority, rotation }: Pick<ControlPlaneSpec, "authority" | "rotation">): string {
  const all = [authority.certificate, ...(rotation?.trusted ?? [])];
  return all.map((each) => (each.endsWith("\n") ? each : `${each}\n`)).join("");
}

/** The authority that signs what clients and kubelets verify. */
export function servingRoot({ authority, rotation }: Pick<ControlPlaneSpec, "authority" | "rotation">): KeyPair {
  return rotation?.serving ?? authority;
}

/** PEM public keys whose service-account tokens are believed, the one that signs first. */
export function accountKeys({
  serviceAccountKey,
  rotation,
}: Pick<ControlPlaneSpec, "serviceAccountKey" | "rotation">): string {
  const own = createPublicKey(serviceAccountKey).export({ type: "spki", format: "pem" }).toString();
  return [own, ...(rotation?.accountKeys ?? [])].map((each) => (each.endsWith("\n") ? each : `${each}\n`)).join("");
}

/** By it a runtime says which roots it runs with. */
export function rootsDigest({
  authority,
  serviceAccountKey,
  rotation,
}: Pick<ControlPlaneSpec, "authority" | "serviceAccountKey" | "rotation">): string {
  const roots = canonicalJson([authority, serviceAccountKey, rotation ?? null]);
  return createHash("sha256").update(roots).digest("base64url");
}

/** An etcd that a control plane's own joins as a member. */
export interface ControlPlaneJoin {
  /** "Reserve": ports only. "Follow": etcd runs. "Serve": all programs run. */
  readonly stage: "Reserve" | "Follow" | "Serve";
  readonly members: readonly { readonly name: string; readonly peerURL: string }[];
  /** The address at which the other members reach it. */
  readonly peerHost: string;
  /** Undefined until etcd is to run. */
  readonly certificates?: JoinCertificates;
}

/** Of etcd's authority, signed elsewhere: its key is not needed. */
export interface JoinCertificates {
  readonly authority: string;
  readonly server: KeyPair;
  readonly client: KeyPair;
}

/** Where the programs of a control plane that joins an etcd are. */
export interface JoinState {
  readonly stage: ControlPlaneJoin["stage"];
  readonly peerURL: string;
  readonly clientURL: string;
  /** "HOST:PORT" where the API listens: the endpoint forwards to it. */
  readonly apiAddress: string;
}

/** What a control plane may store. */
export interface ControlPlaneLimits {
  readonly objects: number;
  /** Of the objects' JSON. */
  readonly bytes: number;
}

/** As in spec.authentication.jwt of a HostedControlPlane: whose tokens are accepted (OpenID Connect). */
export type TokenIssuers = NonNullable<NonNullable<HostedControlPlane["spec"]["authentication"]>["jwt"]>;

/** Where a tenant wants its audit events, by `spec.audit.webhook` of a HostedControlPlane. */
export interface AuditSink {
  readonly url: string;
  readonly certificateAuthority?: string;
  /** The Secret that has the token. */
  readonly tokenSecret?: string;
  /** Undefined: none is requested, or its Secret does not have it. */
  readonly token?: string;
}

/** Who is believed in addition to the control plane's own identities. Empty: none. */
export interface ControlPlaneAuthentication {
  /** Undefined: there are no issuers, and none can be added without a restart of Kubernetes' own API servers. */
  readonly jwt?: TokenIssuers;
  /** An authenticator by its name, and what it is made with: "keystone" and its fields in the HostedControlPlane. */
  readonly external?: { readonly type: string; readonly settings: Readonly<Record<string, unknown>> };
}

/** What a runtime reports of one control plane. */
export interface ControlPlaneState {
  readonly ready: boolean;
  /** It is as requested, and is not ready yet; a change of it is reported to listeners. */
  readonly starting?: true;
  readonly runtime?: RuntimeName;
  /** Where kubeconfigs and nodes point. */
  readonly endpoint: { readonly host: string; readonly port: number };
  /** URLs at which the runtime's own process reaches API servers, where that is not the endpoint. */
  readonly inside?: readonly string[];
  /** Where kubeconfigs of people point instead, with the endpoint's host as server name: it needs no DNS. */
  readonly address?: string;
  readonly version: string;
  /** More names that the serving certificate has. */
  readonly names: readonly string[];
  readonly limits: ControlPlaneLimits;
  readonly authentication: ControlPlaneAuthentication;
  /** The flags in force, where the runtime does not remember the request. */
  readonly flags?: ControlPlaneFlags;
  /** The sink of audit events in force, where the runtime does not remember the request. */
  readonly audit?: AuditSink;
  /** The schedule of backups in force, where the runtime does not remember the request. */
  readonly schedule?: BackupSpec;
  readonly join?: JoinState;
  /** Why it is not ready, for people. */
  readonly message?: string;
  /** It is not served until then, since its requests ended the process that serves it again and again. */
  /** The last request, where the runtime remembers it: a request that differs in anything is a new one. */
  readonly requested?: ControlPlaneSpec;
  /** `rootsDigest` of the roots it runs with, where the runtime does not remember the request. */
  readonly roots?: string;
  /** What keeps it from being as requested, and who must act. */
  readonly problem?: ControlPlaneProblem;
  /** Of API servers. Default: one, ready when the control plane is. */
  readonly replicas?: { readonly total: number; readonly ready: number; readonly updated: number };
  readonly backup?: BackupState;
  /** What it stores in a shared etcd. */
  readonly storage?: StorageState;
  /** Its move from a shared etcd to its own, once one began. */
  readonly migration?: MigrationState;
  /** Nodes that run its pods and whose clocks are wrong. Undefined: nothing is known of them. */
  readonly clocks?: readonly NodeClock[];
  /** Its removal began and has not ended. */
  readonly removing?: true;
  readonly parked?: { readonly until: number; readonly reason: string };
}

/** A node of a service cluster whose clock is wrong. */
export interface NodeClock {
  readonly node: string;
  /** By which it is ahead; below 0: it is behind. */
  readonly minutes: number;
}

/** What a control plane stores in an etcd that it shares. */
export interface StorageState {
  readonly bytes: number;
  readonly budget: number;
  /** Exceeded: writes are refused, deletions are not. Sealed: it grew all the same, and may only read. */
  readonly stage: "Within" | "Exceeded" | "Sealed";
  /** While it is sealed: when users may delete objects (ms since epoch). Undefined: not by itself. */
  readonly opensAt?: number;
  /** While it is sealed: it waits for space in the etcd, in which others store more than they may, too. */
  readonly lacksSpace?: true;
}

/** Where a move from a shared etcd to an own one is. */
export interface MigrationState {
  readonly stage: "Starting" | "Copying" | "Freezing" | "Switching" | "Returning" | "Withdrawn" | "Retained" | "Done";
  readonly attempt: number;
  /** Of both etcds, when they were compared: the number of keys, and SHA-256 over all keys and values. */
  readonly keys?: number;
  readonly hash?: string;
  /** Why the last attempt failed. */
  readonly failure?: string;
}

/** What there is to restore a control plane from. Times are milliseconds since epoch. */
export interface BackupState {
  readonly folder: string;
  readonly points: number;
  readonly oldest?: number;
  readonly newest?: number;
  readonly newestFull?: number;
  /** Why no point was created when one was due. */
  readonly problem?: ControlPlaneProblem;
}

/** Why a control plane is not as requested. */
export interface ControlPlaneProblem {
  /** In upper snake case, as in docs/reference/errors. */
  readonly code: string;
  readonly message: string;
  /** Who must act: who wrote the object, who operates the service cluster, or neither, since it continues by itself. */
  readonly actor: "user" | "operator" | "none";
}

/**
 * Runs control planes: logical clusters of the embedded API server, processes of Kubernetes' own programs, or pods of a
 * service cluster.
 */
export interface ControlPlaneRuntime {
  /** Makes it so, or starts to; safe to repeat. */
  ensure(spec: ControlPlaneSpec, signal: AbortSignal): Promise<ControlPlaneState>;
  observe(id: string, signal: AbortSignal): Promise<ControlPlaneState | undefined>;
  /** Calls back when a control plane changes by itself; returns what ends that. */
  onChange(listener: (id: string) => void): () => void;
  /**
   * Does this runtime find the host of an endpoint by itself? Then requests have the host "" until it is known.
   * Default: no.
   */
  assignsEndpoint?(runtime: RuntimeName | undefined): boolean;
  /** The tunnel through which its API servers reach its nodes. Undefined: there is none. */
  tunnel?(id: string, signal: AbortSignal): Promise<TunnelAccess | undefined>;
  /** What its API servers wrote in the last minutes. Undefined: nothing can be read. Default: nothing. */
  output?(id: string, signal: AbortSignal): Promise<string | undefined>;
  /** Removes it with all its data. Nothing to do is success. */
  remove(id: string, signal: AbortSignal): Promise<void>;
}

/** How a tunnel server is reached as the API server of one control plane reaches it. */
export type TunnelAccess =
  | { readonly socket: string }
  | { readonly url: string; readonly certificateAuthority: string; readonly client: KeyPair };

/** The key of a control plane by its id, "NAMESPACE.NAME" of the management cluster: it is shared by that namespace. */
export function keyOfId(id: string): { readonly namespace: string; readonly name: string } {
  return { namespace: id.slice(0, id.indexOf(".")), name: id };
}
