import { existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import type { Dial } from "@causeway/addons";
import type { ObjectKey } from "@causeway/kubernetes";

/** Connections into workload clusters by HTTP CONNECT over the tunnel's sockets, NAMESPACE.NAME.sock. */
export function dialThrough(folder: string): Dial {
  const socketOf = ({ namespace, name }: ObjectKey): string => join(folder, `${namespace}.${name}.sock`);
  const dial: Dial = (cluster, { host, port }, signal) => {
    const path = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    const asked = request({ method: "CONNECT", socketPath: socketOf(cluster), path, signal });
    return new Promise<Duplex>((resolve, reject) => {
      asked.once("connect", ({ statusCode = 0, statusMessage = "" }, socket, head) => {
        if (statusCode !== 200) {
          socket.destroy();
          reject(new Error(`the tunnel answers ${statusCode} ${statusMessage.slice(0, 500)}`));
          return;
        }
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      asked.once("error", reject);
      asked.end();
    });
  };
  // Clusters without a tunnel of their own are judged by their objects alone.
  return Object.assign(dial, { reaches: (cluster: ObjectKey) => existsSync(socketOf(cluster)) });
}
