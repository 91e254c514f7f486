import { certificateUser } from "../auth/client-certificates.ts";
import type { LogicalClusterOptions } from "../interface.ts";
import type { Opened } from "./served-clusters.ts";

/**
 * Has a cluster that is served take other roots, with no pause: new connections see the new serving certificate, and
 * those of clients whose authority is not trusted any more are ended, with their watches.
 */
export async function rotateRoots({ open, listener }: Opened, options: LogicalClusterOptions): Promise<void> {
  await open.rotate(options);
  await listener?.reissue();
  listener?.endUnless((socket) => certificateUser(open.cluster, socket, new WeakMap()) !== "untrusted");
  open.publishRoots();
}
