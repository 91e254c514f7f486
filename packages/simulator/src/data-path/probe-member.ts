import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Place } from "./addresses.ts";
import { proxyHeader } from "./connect-member.ts";
import type { Monitor } from "./model.ts";

/** The header of a probe itself: it comes from no client. */
const NO_CLIENT = { source: "", sourcePort: 0, destination: "", port: 0 };
/** The status line is within so many bytes. */
const LONGEST = 16_384;

/** A member's place on this machine, and how its pool's monitor probes it. */
export interface Probed {
  readonly monitor: Monitor;
  readonly place: Place;
  /** The pool speaks TLS to its members. */
  readonly tls: boolean;
  /** The header of the PROXY protocol comes first. */
  readonly proxyProtocol: 1 | 2 | undefined;
}

/** One probe, as Octavia's HAProxy sends it: did the member respond as its monitor expects, in time? */
export function probeMember({ monitor, place, tls, proxyProtocol }: Probed, signal: AbortSignal): Promise<boolean> {
  return new Promise((done) => {
    const plain = connect(place);
    const end = (healthy: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      plain.destroy();
      done(healthy);
    };
    const stop = (): void => end(false);
    const timer = setTimeout(stop, monitor.timeout);
    signal.addEventListener("abort", stop);
    plain.on("error", stop).on("close", stop);
    plain.once("connect", () => {
      if (proxyProtocol) plain.write(proxyHeader(proxyProtocol, NO_CLIENT));
      const secured = tls || monitor.type === "HTTPS" || monitor.type === "TLS-HELLO";
      if (!secured) return speak(plain, monitor, end);
      const socket = connectTls({ socket: plain, rejectUnauthorized: false });
      socket.on("error", stop);
      socket.once("secureConnect", () => speak(socket, monitor, end));
    });
  });
}

function speak(socket: Socket, monitor: Monitor, end: (healthy: boolean) => void): void {
  if (monitor.type === "TCP" || monitor.type === "TLS-HELLO") return end(true);
  const host = monitor.host === undefined ? [] : [`Host: ${monitor.host}`];
  const lines = [`${monitor.method} ${monitor.path} HTTP/${monitor.version}`, ...host, "Connection: close", "", ""];
  socket.write(lines.join("\r\n"));
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    if (!text.includes("\n") && text.length < LONGEST) return;
    const [, code = ""] = /^HTTP\/1\.[01] (\d{3})/.exec(text) ?? [];
    end(monitor.codes.has(Number(code)));
  });
  socket.on("end", () => end(false));
}
