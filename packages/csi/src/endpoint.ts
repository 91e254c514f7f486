import { fitsUnixSocket, InputError } from "@causeway/foundation";

/** Where a CSI server listens, or a client connects. */
export type Endpoint =
  | { readonly type: "unix"; readonly path: string }
  | { readonly type: "tcp"; readonly host: string; readonly port: number };

/**
 * The endpoint of a `--endpoint` flag: "unix:///csi/csi.sock", "unix:/csi/csi.sock", "/csi/csi.sock",
 * "tcp://127.0.0.1:10000". As upstream's plugins have it, a path after "unix://" begins at the root of the file system
 * in any case: their manifests have "unix://csi/csi.sock". Throws CSI_ENDPOINT_INVALID.
 *
 * @example
 * parseEndpoint("unix://csi/csi.sock"); // { type: "unix", path: "/csi/csi.sock" }
 */
export function parseEndpoint(text: string): Endpoint {
  const path = /^(?:unix:\/\/\/?(?=[^/])|unix:\/(?=[^/])|\/(?=[^/]))(.+)$/i.exec(text)?.[1];
  if (path !== undefined && fitsUnixSocket(`/${path}`)) return { type: "unix", path: `/${path}` };
  const tcp = /^tcp:\/\/(?:\[([0-9a-f:.]+)\]|([^:/[\]]*)):(\d{1,5})$/i.exec(text);
  const port = Number(tcp?.[3]);
  if (tcp && port <= 65_535) return { type: "tcp", host: tcp[1] ?? (tcp[2] || "127.0.0.1"), port };
  throw new InputError("CSI_ENDPOINT_INVALID", `The endpoint "${text}" is not a valid CSI endpoint.`, {
    hint: "Use unix:///path/to/csi.sock, with a path of at most 107 bytes, or tcp://host:port.",
  });
}
