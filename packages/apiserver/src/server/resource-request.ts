import type { Wanted } from "./respond.ts";
import type { AuditNotes } from "../contract/audit.ts";
import type { Cluster } from "../contract/cluster.ts";
import type { RequestInfo } from "../contract/request-info.ts";
import type { Served } from "../contract/resource.ts";
import type { Holder } from "../contract/thread-time.ts";
import type { User } from "../contract/user.ts";
/** A request on a resource after authentication, authorization and reading its body. */
export interface ResourceRequest extends AuditNotes {
  readonly cluster: Cluster;
  readonly info: RequestInfo;
  readonly served: Served;
  readonly user: User;
  readonly holder: Holder;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly contentType: string | undefined;
  readonly userAgent: string;
  readonly wanted: Wanted;
  readonly closing: AbortSignal;
}
