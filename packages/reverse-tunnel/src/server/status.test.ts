import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { serveStatus } from "./status.ts";

test("a probe is responded to, however many connections are held by others", async () => {
  const server = await serveStatus({ host: "127.0.0.1", port: 0 }, { unready: () => undefined });
  const held: Socket[] = [];
  try {
    for (let i = 0; i < 100; i++) {
      const socket = connect(server.port, "127.0.0.1").on("error", () => {});
      held.push(socket);
      await once(socket, "connect");
    }
    const response = await fetch(`http://127.0.0.1:${server.port}/healthz`);
    expect([response.status, await response.text()]).toEqual([200, "ok"]);
    await expect.poll(() => held.map(({ closed }) => closed).indexOf(false)).toBe(1);
  } finally {
    for (const socket of held) socket.destroy();
    await server.close();
  }
});
