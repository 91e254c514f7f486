import type { Clock, Log } from "@causeway/foundation";
import type { ShareProtocol } from "../protocol.ts";
import type { ShareCloud } from "../shares/connections.ts";

/** What every call of the controller service has. */
export interface ShareCall {
  readonly storage: ShareCloud;
  readonly protocol: ShareProtocol;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds; the sidecars give a call three minutes. The next call continues to wait. */
export const LONGEST_CALL = 170_000;
