import { createHash } from "node:crypto";
import { createServer } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import type { TLSSocket } from "node:tls";
import type { KeyPair } from "@causeway/foundation";

/** An address of this machine that is not loopback, which the rules refuse, if there is one. */
export const address =
  Object.values(networkInterfaces())
    .flat()
    .find((each) => each && !each.internal && each.family === "IPv4")?.address ?? "127.0.0.1";

/** A connection to a port of `address` through the server at that Unix socket; undefined when it is refused. */
export async function dialThrough(path: string, port: number): Promise<Socket | undefined> {
  const socket = connect({ path, allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write(`CONNECT ${address}:${port} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  const head = await new Promise<string>((resolve) => {
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      resolve(chunk.toString("latin1"));
    });
    socket.once("close", () => resolve(""));
  });
  if (/^HTTP\/1.1 200 [^\r]*\r\n\r\n$/.test(head)) return socket;
  socket.destroy();
  return undefined;
}

/** SHA-256 of all that comes, in hex. */
export async function hashOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of chunks) digest.update(chunk);
  return digest.digest("hex");
}

/** An HTTPS server in place of a kubelet: it responds with the path and the client certificate's name. */
export async function playedKubelet({
  authority,
  serving,
}: Readonly<Record<"authority" | "serving", KeyPair>>): Promise<{ readonly port: number; close(): void }> {
  const server = createServer(
    {
      cert: serving.certificate,
      key: serving.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject;
      if (request.url === "/healthz") return void response.end("ok");
      response.end(`path ${request.url?.replace(/\?.*/, "")}, client ${String(CN)}\n`);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
