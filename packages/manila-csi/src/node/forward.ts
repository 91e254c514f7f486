import { Code, ConnectError, csiClient, type CsiClient } from "@causeway/csi";
import { CausewayError } from "@causeway/foundation";

/** The protocol's own CSI driver, which mounts: csi-driver-nfs or ceph-csi, on its socket (--fwdendpoint). */
export interface ProxiedDriver {
  /**
   * Runs a call; an error of the driver is returned as it is. Throws CSI_UNAVAILABLE when the driver cannot be reached.
   */
  call<T>(work: (client: CsiClient) => Promise<T>): Promise<T>;
  close(): void;
}

/** Connects at the first call, and again after the driver was restarted. */
export function proxiedDriver(endpoint: string): ProxiedDriver {
  let client = csiClient(endpoint);
  let isClosed = false;
  return {
    async call(work) {
      try {
        return await work(client);
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        if (!isClosed) {
          client.close();
          client = csiClient(endpoint);
        }
        throw new CausewayError("CSI_UNAVAILABLE", `The proxied driver at ${endpoint} cannot be reached.`, {
          cause: error,
          hint: "Check that the node plugin of the share protocol (csi-driver-nfs or ceph-csi) runs on this node.",
        });
      }
    },
    close() {
      isClosed = true;
      client.close();
    },
  };
}

const NOT_CONNECTED = new Set(["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTSOCK"]);

function isUnreachable(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  if (error.code === Code.Unavailable && error.cause === undefined) return false;
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (NOT_CONNECTED.has(String(Reflect.get(each, "code")))) return true;
  }
  return false;
}
