import type { KeyPair } from "@causeway/foundation";

/** As in spec.runtime of a HostedControlPlane. */
export type RuntimeName = "Embedded" | "Process";

/** What a hosted control plane must be, whatever runs it. */
export interface ControlPlaneSpec {
  /** Unique over the management cluster: "NAMESPACE.NAME", as no namespace has a dot. */
  readonly id: string;
  /** "v1.34.0" */
  readonly version: string;
  /** Which runtime runs it. Undefined: the default one, which then stays. */
  readonly runtime?: RuntimeName;
  readonly authority: KeyPair;
  /** The root of the front proxy's certificate. */
  readonly frontProxy?: KeyPair;
  /** PEM private key that signs service-account tokens. */
  readonly serviceAccountKey: string;
  readonly endpoint: { readonly host: string; readonly port: number };
  readonly serviceCidr: string;
  readonly podCidr?: string;
  readonly dnsDomain: string;
  /** More names and addresses for the serving certificate. */
  readonly names: readonly string[];
  readonly limits: ControlPlaneLimits;
  /** An etcd that exists is joined, in place of one of its own. */
  readonly join?: ControlPlaneJoin;
  /** Who is believed in addition to its own identities. */
  readonly authentication: ControlPlaneAuthentication;
  /** The process that serves it: one that it shares with others, or its own. */
  readonly worker: "shared" | "own";
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

/** An authenticator by its name, and what it is made with: "keystone" and its fields in the HostedControlPlane. Empty: none. */
export interface ControlPlaneAuthentication {
  readonly external?: { readonly type: string; readonly settings: Readonly<Record<string, unknown>> };
}

export interface ControlPlaneState {
  readonly ready: boolean;
  /** It is as requested, and is not ready yet; a change of it is reported to listeners. */
  readonly starting?: true;
  readonly runtime?: RuntimeName;
  /** Where kubeconfigs and nodes point. */
  readonly endpoint: { readonly host: string; readonly port: number };
  readonly version: string;
  /** More names that the serving certificate has. */
  readonly names: readonly string[];
  readonly limits: ControlPlaneLimits;
  readonly authentication: ControlPlaneAuthentication;
  readonly join?: JoinState;
  /** Why it is not ready, for people. */
  readonly message?: string;
  /** It is not served until then, since its requests ended the process that serves it again and again. */
  readonly parked?: { readonly until: number; readonly reason: string };
}

/** Runs control planes: logical clusters of the embedded API server, or processes of Kubernetes' own programs. */
export interface ControlPlaneRuntime {
  /** Makes it so, or starts to; safe to repeat. */
  ensure(spec: ControlPlaneSpec, signal: AbortSignal): Promise<ControlPlaneState>;
  observe(id: string, signal: AbortSignal): Promise<ControlPlaneState | undefined>;
  /** Calls back when a control plane changes by itself; returns what ends that. */
  onChange(listener: (id: string) => void): () => void;
  /** Removes it with all its data. Nothing to do is success. */
  remove(id: string, signal: AbortSignal): Promise<void>;
}
