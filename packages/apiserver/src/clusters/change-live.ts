import type { LogicalClusterOptions } from "../interface.ts";
import { rotateRoots } from "./rotate-roots.ts";
import type { Opened } from "./served-clusters.ts";

/** What is changed while the cluster is served, and how it is kept. */
export interface LiveChange {
  /** All options that are requested. */
  readonly asked: LogicalClusterOptions;
  /** Names of those that differ, all of them live. */
  readonly changed: readonly string[];
  /** Called with all options of the cluster once those that are to be kept are known to be valid. */
  readonly keep: (options: LogicalClusterOptions) => void;
}

/** Changes options of a cluster that is served; requests and watches continue. */
export async function changeLive(known: Opened, { asked, changed, keep }: LiveChange): Promise<void> {
  const { open } = known;
  const { authentication, audit } = asked;
  if (authentication && changed.includes("authentication"))
    open.authenticate(authentication, () => keep({ ...open.options, authentication }));
  if (audit && changed.includes("audit")) open.record(audit, () => keep({ ...open.options, audit }));
  if (changed.some((option) => option !== "authentication" && option !== "audit")) await rotateRoots(known, asked);
}
