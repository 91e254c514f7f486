import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BootedMachine } from "../interface.ts";

/** The address at which a server finds its metadata. */
export const METADATA_ADDRESS = "169.254.169.254";

/**
 * Serves what a server's programs read of its metadata: its ID and zone, as Nova has them. A namespace of a cloud
 * without a metadata service has none otherwise. It is served until the signal aborts; the port that it has.
 */
export function serveMetadata(
  { id, name, zone = "" }: BootedMachine,
  { address = METADATA_ADDRESS, port = 80 }: { readonly address?: string; readonly port?: number },
  signal: AbortSignal,
): Promise<number> {
  const document = JSON.stringify({ uuid: id, name, hostname: name, availability_zone: zone, devices: [] });
  const server = createServer((request, response) => {
    const found = /^\/openstack\/(?:latest|\d{4}-\d\d-\d\d)\/meta_data\.json$/.test(request.url ?? "");
    response.writeHead(found ? 200 : 404, { "Content-Type": found ? "application/json" : "text/plain" });
    response.end(found ? document : "not found\n");
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: address, port, signal }, () => {
      // It must not keep the machine's process.
      server.unref();
      resolve((server.address() as AddressInfo).port);
    });
  });
}
