import type { Json } from "../json/json.ts";
import type { Request, Response } from "./exchange.ts";
import type { User } from "./user.ts";

/** A group and version that another API server serves, as its APIService says. */
export interface Extension {
  /** Of the APIService: "v1.metrics.k8s.io". */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
  /** PEM; undefined: the system's authorities. */
  readonly authority: string | undefined;
  readonly insecure: boolean;
  /** The last check of its server succeeded. */
  readonly available: boolean;
}

/**
 * An extension, and what its server said of its resources when it was checked last: the resources of an
 * APIResourceList.
 */
export interface Discovered {
  readonly extension: Extension;
  readonly resources: readonly Json[];
}

/** A request to pass on to an extension API server. */
export interface Forwarded {
  readonly request: Request;
  readonly user: User;
  /** Path and query as the client wrote them, below the logical cluster. */
  readonly url: string;
  readonly isWatch: boolean;
  readonly closing: AbortSignal;
}

/** The aggregation layer of one logical cluster. */
export interface Aggregation {
  /** Undefined: no extension serves it, or this server does. */
  find(group: string, version: string): Extension | undefined;
  /** By priority of group, then of version. */
  discovered(): readonly Discovered[];
  /** Passes a request on, as its user. The response is the extension server's. */
  forward(extension: Extension, forwarded: Forwarded, response: Response): Promise<void>;
  /** A JSON document of the extension's server; undefined: it is not available, or has none. Kept for a minute. */
  document(extension: Extension, path: string): Promise<Json | undefined>;
  /** Checks extensions and publishes their conditions from now on. */
  resume(): void;
  stop(): Promise<void>;
}
