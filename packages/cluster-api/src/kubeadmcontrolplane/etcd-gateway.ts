import { Agent, request } from "node:http";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import { CausewayError, messageOf, parseBoundedJson, type KeyPair } from "@causeway/foundation";

/** The credentials of a client of etcd, PEM. */
export interface EtcdCredentials extends KeyPair {
  readonly authority: string;
}

type Fields = Readonly<Record<string, unknown>>;

const callTimeout = 10_000;
const largestAnswer = 1024 * 1024;

/**
 * One call of etcd's JSON gateway (etcd API v3, gRPC gateway) on a connection to a member.
 * @throws CAPI_ETCD_UNREACHABLE, CAPI_ETCD_REFUSED
 */
export function callEtcd(
  connection: Duplex,
  { path, body, credentials }: { readonly path: string; readonly body: object; readonly credentials: EtcdCredentials },
  signal: AbortSignal,
): Promise<Fields> {
  const { authority, certificate, key } = credentials;
  // Members have certificates for localhost, which is how kubeadm's own checks reach them.
  const secure = connect({ socket: connection, ca: authority, cert: certificate, key, servername: "localhost" });
  const agent = new Agent({ keepAlive: false });
  agent.createConnection = () => secure;
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const unreachable = (cause: unknown) => {
      secure.destroy();
      reject(new CausewayError("CAPI_ETCD_UNREACHABLE", `etcd does not respond: ${messageOf(cause)}`, { cause }));
    };
    secure.on("error", unreachable);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const call = request({ agent, method: "POST", path, headers, host: "localhost", timeout: callTimeout, signal });
    call.on("error", unreachable);
    call.once("timeout", () => unreachable(new Error(`no response within ${callTimeout / 1000} s`)));
    call.once("response", (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > largestAnswer) unreachable(new Error("its response is too large"));
        else chunks.push(chunk);
      });
      response.on("error", unreachable);
      response.once("end", () => {
        secure.destroy();
        const answer = fieldsOf(Buffer.concat(chunks).toString("utf8"));
        if (response.statusCode === 200) return resolve(answer);
        const said = typeof answer["message"] === "string" ? answer["message"] : `status ${response.statusCode ?? 0}`;
        reject(new CausewayError("CAPI_ETCD_REFUSED", `etcd refused ${path}: ${said}`));
      });
    });
    call.end(text);
  });
}

function fieldsOf(text: string): Fields {
  try {
    const parsed: unknown = parseBoundedJson(text, 20);
    return typeof parsed === "object" && parsed !== null ? (parsed as Fields) : {};
  } catch {
    return {};
  }
}
