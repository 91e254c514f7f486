import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { createServer, type ServerHttp2Session } from "node:http2";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  asLocalhost,
  hasCode,
  InputError,
  messageOf,
  removeStaleSocket,
  socketFailure,
  type Log,
} from "@causeway/foundation";
import { socketPath } from "./endpoint.ts";
import { KeyManagementService } from "./protocol.generated.ts";
import type { KmsService } from "./service.ts";

/** The socket, the service and the log of a plugin. */
export interface KmsServerOptions {
  /** "unix:///run/kms.sock" or a path. */
  readonly endpoint: string;
  readonly service: KmsService;
  readonly log: Log;
  /** Called after each call; `failed` is undefined after a success. */
  readonly onCall?: (method: string, failed: string | undefined) => void;
}

/** A KMS v2 plugin on a socket. */
export interface KmsServer {
  close(): Promise<void>;
}

const LARGEST_REQUEST = 64 * 1024;
const MOST_STREAMS = 256;

/**
 * Serves the protocol until `close`, for the user of this process alone. @throws KMS_ENDPOINT_INVALID,
 * KMS_ENDPOINT_IN_USE, KMS_ENDPOINT_UNUSABLE
 */
export async function serveKms(options: KmsServerOptions): Promise<KmsServer> {
  const path = socketPath(options.endpoint);
  const handler = connectNodeAdapter({
    connect: false,
    grpcWeb: false,
    readMaxBytes: LARGEST_REQUEST,
    routes: (router) => addService(router, options),
  });
  const server = createServer({ settings: { maxConcurrentStreams: MOST_STREAMS } }, asLocalhost(handler));
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => session.destroy());
    session.on("close", () => sessions.delete(session));
  });
  const why = await removeStaleSocket(path).catch((error: unknown) => {
    throw unusable(path, error);
  });
  if (why !== undefined) throw inUse(path, why);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(unusable(path, error)));
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

function addService(router: ConnectRouter, { service, log, onCall }: KmsServerOptions): void {
  const call = async <T>(method: string, work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work();
      onCall?.(method, undefined);
      return result;
    } catch (error) {
      const message = messageOf(error);
      log.warn("a call of the KMS plugin failed", { method, error: message });
      onCall?.(method, message);
      throw new ConnectError(message, hasCode(error, "KMS_UNAVAILABLE") ? Code.Unavailable : Code.Internal);
    }
  };
  router.service(KeyManagementService, {
    status: (_, { signal }) => call("Status", () => service.status(signal)),
    encrypt: ({ plaintext, uid }, { signal }) =>
      call("Encrypt", async () => {
        const { annotations, ...encrypted } = await service.encrypt(plaintext, uid, signal);
        return { ...encrypted, annotations: { ...annotations } };
      }),
    decrypt: ({ ciphertext, keyId, annotations, uid }, { signal }) =>
      call("Decrypt", async () => ({
        plaintext: await service.decrypt({ ciphertext, keyId, annotations }, uid, signal),
      })),
  });
}

function inUse(path: string, why: string): InputError {
  return new InputError("KMS_ENDPOINT_IN_USE", `The KMS plugin cannot listen on ${path}: ${why}.`, {
    hint: "Stop the other process, or choose another path.",
  });
}

/** The error for what the operating system says of the path. */
function unusable(path: string, error: unknown): InputError {
  const { isTaken, why } = socketFailure(path, error);
  if (isTaken) return inUse(path, why);
  return new InputError("KMS_ENDPOINT_UNUSABLE", `The KMS plugin cannot listen on ${path}: ${why}.`, {
    cause: error,
    hint: `Create the folder ${dirname(path)}, make it writable for the user of the plugin, or choose another path.`,
  });
}
