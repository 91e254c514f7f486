import { Duplex } from "node:stream";
import { CausewayError, messageOf } from "@causeway/foundation";
import type { ClusterConfig } from "@causeway/kubernetes";
import { WebSocket } from "ws";

/** A port of a pod in the workload cluster. */
export interface ForwardTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

const dialTimeout = 10_000;
/** Channel 0 carries data, channel 1 errors; the first message of each is the port (Kubernetes, v4.channel.k8s.io). */
const dataChannel = 0;
const errorChannel = 1;
const portBytes = 2;

/**
 * How often one of the API servers is dialled. A load balancer passes some connections on to a machine that does not
 * serve yet, which says nothing of the pod.
 */
const attempts = 3;

/**
 * A connection to a port of a pod, through the API server and the pod's kubelet.
 * @throws CAPI_ETCD_UNREACHABLE
 */
export async function forwardPort(config: ClusterConfig, target: ForwardTarget, signal: AbortSignal): Promise<Duplex> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await dial(config, target, signal);
    } catch (error) {
      if (signal.aborted || attempt === attempts || !isRefused(error)) throw error;
    }
  }
}

/** True if no API server took the connection. */
function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
  return cause?.code === "ECONNREFUSED" || cause?.code === "ECONNRESET";
}

function dial(config: ClusterConfig, target: ForwardTarget, signal: AbortSignal): Promise<Duplex> {
  const { namespace, pod, port } = target;
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/portforward?ports=${port}`;
  const url = `${config.server.replace(/^http/, "ws").replace(/\/$/, "")}${path}`;
  const socket = new WebSocket(url, ["v4.channel.k8s.io"], {
    ...(config.ca === undefined ? {} : { ca: config.ca }),
    ...(config.certificate === undefined ? {} : { cert: config.certificate }),
    ...(config.key === undefined ? {} : { key: config.key }),
    ...(config.token === undefined ? {} : { headers: { authorization: `Bearer ${config.token}` } }),
    handshakeTimeout: dialTimeout,
    maxPayload: 4 * 1024 * 1024,
  });
  return new Promise((resolve, reject) => {
    const abort = () => socket.terminate();
    signal.addEventListener("abort", abort, { once: true });
    socket.once("close", () => signal.removeEventListener("abort", abort));
    socket.once("open", () => resolve(streamOf(socket)));
    // A failure before "open" is reported here alone: a stream without a reader would end this process with it.
    socket.on("error", (cause) => {
      reject(
        new CausewayError("CAPI_ETCD_UNREACHABLE", `Pod ${namespace}/${pod} cannot be reached: ${messageOf(cause)}`, {
          cause,
          hint: "It is retried; check the kubelet of its Node, and the API server's connection to it.",
        }),
      );
    });
  });
}

function streamOf(socket: WebSocket): Duplex {
  const skipped = [portBytes, portBytes];
  const stream = new Duplex({
    read: () => {},
    write(chunk: Buffer, _encoding, done) {
      socket.send(Buffer.concat([Buffer.of(dataChannel), chunk]), done);
    },
    destroy(error, done) {
      socket.terminate();
      done(error);
    },
  });
  // A connection that fails once its reader is gone must not end this process.
  stream.on("error", () => {});
  socket.on("message", (data: Buffer) => {
    const channel = data[0] ?? dataChannel;
    const skip = Math.min(skipped[channel] ?? 0, data.length - 1);
    if (skipped[channel]) skipped[channel] -= skip;
    const rest = data.subarray(1 + skip);
    if (rest.length === 0) return;
    if (channel === errorChannel) stream.destroy(new Error(rest.toString("utf8").slice(0, 500)));
    else stream.push(rest);
  });
  socket.on("close", () => stream.push(null));
  socket.on("error", (error) => stream.destroy(error));
  return stream;
}
