import type { Attributes } from "./attributes.ts";
import type { Json } from "../json/json.ts";
import type { User } from "./user.ts";
import type { Request, Response } from "./exchange.ts";

/** Where any part of the server notes something about a request for its audit event. */
export interface AuditNotes {
  /**
   * Adds an annotation of the event, such as "authorization.k8s.io/decision"; the first value of a key remains.
   * Costs nothing when the request is not audited.
   */
  readonly annotate: (key: string, value: string) => void;
}

/** The audit of one request that a policy wants recorded. Its responses are seen where they are sent. */
export interface RequestAudit extends AuditNotes {
  /** Whom the request acts as, when that is not who sent it. */
  impersonated(user: User): void;
  /** The body that was sent: an object of its own, or a patch of one. */
  received(body: unknown): void;
  /** A defect of the server ended the request: the event is of stage Panic. */
  panicked(): void;
}

/** How a logical cluster records its requests (audit.k8s.io/v1). */
export interface AuditOptions {
  /** An audit.k8s.io/v1 Policy. */
  readonly policy: Json;
  /** Events as lines of JSON, in a file of its own (mode 0600). */
  readonly log?: AuditLogOptions;
  /** Events in batches (audit.k8s.io/v1 EventList) to a server of one's own. */
  readonly webhook?: AuditWebhookOptions;
  /** The same to a server that a tenant names. */
  readonly server?: AuditServerOptions;
}

/** Where a tenant wants the events of its cluster. All of it is kept in the state folder. */
export interface AuditServerOptions {
  /** "https://HOST[:PORT][/PATH]" */
  readonly url: string;
  /** PEM; default: the authorities Node knows. */
  readonly certificateAuthority?: string;
  /** A bearer token. */
  readonly token?: string;
  /**
   * Networks (CIDR) in which it may be, by whatever name. Addresses of this machine and of one link are among them only
   * if a network is within theirs. Redirects are not followed.
   */
  readonly networks: readonly string[];
}

/** The file that audit events are written to, and when a new one is begun. */
export interface AuditLogOptions {
  readonly file: string;
  /** In MiB; default 100. A file that would grow larger is put aside under the time of day. */
  readonly maxSize?: number;
  /** How many files put aside are kept; default 10, 0 all. */
  readonly maxBackups?: number;
  /** How long they are kept, in days; default 0, for ever. */
  readonly maxAge?: number;
}

/** The webhook that audit events are sent to, and in which batches. */
export interface AuditWebhookOptions {
  /** A kubeconfig whose current context says where to, whom to trust, and who we are. Read at the start. */
  readonly kubeconfigFile: string;
  /** Events in one batch; default 400. */
  readonly batchSize?: number;
  /** The longest time an event waits for others, in milliseconds; default 30 000. */
  readonly batchWait?: number;
}

/** Takes whole events, as JSON without a line end. Never waits for a disk or a network. */
export interface AuditSink {
  write(event: string): void;
  /** Resolves when what was accepted has been written, or cannot be. */
  close(): Promise<void>;
}

/** The user and the attributes of a request; without a user if authentication failed. */
export type Audited = Omit<Attributes, "user"> & { readonly user: Attributes["user"] | undefined };

/** A request as its first audit event describes it. */
export interface RequestStart {
  readonly request: Request;
  readonly response: Response;
  readonly asked: Audited;
  readonly id: string;
}

/** The audit of one logical cluster. */
export interface Audit {
  /** undefined when the policy wants nothing of this request. */
  begin(beginning: RequestStart): RequestAudit | undefined;
  close(): Promise<void>;
}
