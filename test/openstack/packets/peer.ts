/**
 * The two ends of a load balancer, for a server's network namespace: `peer.ts serve NAME PORT` answers over TCP (one
 * line) and UDP with who it is and whom it sees, and `peer.ts ask tcp|udp ADDRESS PORT COUNT` prints what so many
 * questions got, as JSON.
 */
import { createSocket } from "node:dgram";
import { connect, createServer } from "node:net";

export const PEER = import.meta.filename;

/** Who responded, and the address from which the request came. */
export interface Answer {
  readonly name: string;
  readonly client: string;
}

/** What each question of a round got; undefined: no answer. */
export type Heard = readonly (Answer | undefined)[];

export interface Questions {
  readonly protocol: "tcp" | "udp";
  readonly address: string;
  readonly port: number;
  readonly count: number;
}

const TIMEOUT = 2_000;

/** Asks all at once, each from a port of its own. */
export function askOften({ protocol, address, port, count }: Questions): Promise<Heard> {
  return Promise.all(Array.from({ length: count }, () => ask(protocol, address, port)));
}

async function ask(protocol: "tcp" | "udp", address: string, port: number): Promise<Answer | undefined> {
  const answer = await (protocol === "tcp" ? askTcp(address, port) : askUdp(address, port));
  return answer === undefined ? undefined : (JSON.parse(answer) as Answer);
}

function askTcp(address: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const socket = connect({ host: address, port, timeout: TIMEOUT });
    let text = "";
    const end = (result: string | undefined): void => {
      socket.destroy();
      done(result);
    };
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.on("end", () => end(text === "" ? undefined : text));
    socket.on("timeout", () => end(undefined));
    socket.on("error", () => end(undefined));
  });
}

function askUdp(address: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const socket = createSocket("udp4");
    const timer = setTimeout(() => end(undefined), TIMEOUT);
    const end = (result: string | undefined): void => {
      clearTimeout(timer);
      socket.close();
      done(result);
    };
    socket.on("message", (message) => end(message.toString()));
    socket.on("error", () => end(undefined));
    socket.send("who is there?", port, address);
  });
}

function serve(name: string, port: number): void {
  const answer = (client: string | undefined): string => JSON.stringify({ name, client });
  createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.end(answer(socket.remoteAddress));
  }).listen(port, "0.0.0.0");
  const udp = createSocket("udp4");
  udp.on("message", (_, { address, port: from }) => udp.send(answer(address), from, address));
  udp.bind(port, "0.0.0.0", () => console.log("ready"));
}

if (import.meta.main) {
  const [mode = "", ...args] = process.argv.slice(2);
  if (mode === "serve") serve(args[0] ?? "", Number(args[1]));
  else {
    const [protocol = "", address = "", port = "", count = "1"] = args;
    const asked = {
      protocol: protocol === "udp" ? "udp" : "tcp",
      address,
      port: Number(port),
      count: Number(count),
    } as const;
    console.log(JSON.stringify((await askOften(asked)).map((a) => a ?? null)));
  }
}
