import type { Clock, Log } from "@causeway/foundation";
import type { Parked } from "../contract/parked.ts";
import type { ThreadTime } from "../contract/thread-time.ts";
import type { ApiServerOptions } from "../interface.ts";

/** What a server is started with, and what its worker processes report to it. */
export interface ServerSettings extends ApiServerOptions {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Where logical clusters other than management are served: here too, only they here (in a worker process), or in
   * worker processes. Default: here.
   */
  readonly tenants?: "here" | "only" | "elsewhere";
  /** In a worker process: the folder of the state folders of all of them. */
  readonly around?: string;
  /** Clusters that are not served for now. */
  readonly parked?: ReadonlyMap<string, Parked>;
  /** Clusters that were removed while the database could not be opened. */
  readonly removed?: readonly string[];
  readonly thread?: ThreadTime;
  /** Why worker processes do not serve their clusters now. */
  readonly workerProblems?: () => readonly string[];
  /**
   * Hears why a cluster cannot be opened, and, without a reason, that it is served after all. Only in a worker process.
   */
  readonly changed?: (cluster: string, problem: string | undefined) => void;
}
