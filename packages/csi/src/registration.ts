import { join } from "node:path";
import { CausewayError, silentLog, type Log } from "@causeway/foundation";
import { parseEndpoint } from "./endpoint.ts";
import { Registration } from "./registration.generated.ts";
import { observing, serveGrpc } from "./server.ts";

/** The driver that is registered with a kubelet, and its socket. */
export interface RegistrationOptions {
  /** The folder that the kubelet watches for plugins' sockets, as this process sees it. */
  readonly folder: string;
  /** Of the driver. */
  readonly name: string;
  /** The path of the driver's socket, as the kubelet sees it. */
  readonly endpoint: string;
  readonly log?: Log;
}

/** The socket by which a kubelet learns of a driver. */
export interface RegistrationServer {
  /** Rejects with CSI_REGISTRATION_REFUSED when the kubelet refuses the driver. Does not resolve. */
  readonly refused: Promise<never>;
  close(): Promise<void>;
}

/**
 * Registers a node's driver with its kubelet, as the sidecar node-driver-registrar does: the kubelet finds the socket
 * NAME-reg.sock, calls it, and registers the driver until the socket is removed. A restarted kubelet finds it again.
 * Errors: CSI_ENDPOINT_INVALID, CSI_ENDPOINT_IN_USE, CSI_ENDPOINT_UNUSABLE.
 */
export async function serveRegistration(options: RegistrationOptions): Promise<RegistrationServer> {
  const { folder, name, endpoint, log = silentLog } = options;
  const { promise: refused, reject } = Promise.withResolvers<never>();
  // It may be refused before its owner waits for it.
  refused.catch(() => {});
  const server = await serveGrpc(
    parseEndpoint(`unix://${join(folder, `${name}-reg.sock`)}`),
    [observing({ log })],
    (router) =>
      router.service(Registration, {
        getInfo: () => ({ type: "CSIPlugin", name, endpoint, supportedVersions: ["1.0.0"] }),
        notifyRegistrationStatus({ pluginRegistered, error }) {
          if (pluginRegistered) log.info("the kubelet registered the driver", { driver: name });
          else reject(refusal(name, error));
          return {};
        },
      }),
  );
  return { refused, close: () => server.close() };
}

function refusal(name: string, error: string): CausewayError {
  return new CausewayError(
    "CSI_REGISTRATION_REFUSED",
    `The kubelet refuses the driver ${name}: ${error.slice(0, 500)}`,
    {
      hint: "The path of --kubelet-registration-path must be that of the driver's socket on the node.",
    },
  );
}
