import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

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
