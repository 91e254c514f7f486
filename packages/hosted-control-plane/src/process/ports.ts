import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { steadyPorts } from "@causeway/foundation";

/** Ports of one control plane. They remain the same as long as its folder exists: nodes hold the one of the API. */
export interface Ports {
  readonly api: number;
  readonly etcd: number;
  readonly peer: number;
  /** Of the webhook for tokens. */
  readonly tokens: number;
}

/** The ports of the control plane in `dir`. `api`: the port that was wanted; 0: any. `candidates`: ports to try. */
export async function portsOf(
  dir: string,
  { api, host }: { api: number; host: string },
  candidates: () => readonly number[] = steadyPorts,
): Promise<Ports> {
  const file = join(dir, "ports.json");
  const known = read(file);
  if (known?.tokens !== undefined && (api === 0 || api === known.api)) return { ...known, tokens: known.tokens };
  const taken = portsOfOthers(dir);
  const found = async (at: string): Promise<number> => {
    const port = await freePort(
      at,
      candidates().filter((each) => !taken.has(each)),
    );
    taken.add(port);
    return port;
  };
  for (const port of [api, ...Object.values(known ?? {})]) taken.add(port);
  const ports = {
    api: api === 0 ? (known?.api ?? (await found(host))) : api,
    etcd: known?.etcd ?? (await found("127.0.0.1")),
    peer: known?.peer ?? (await found("127.0.0.1")),
    tokens: known?.tokens ?? (await found("127.0.0.1")),
  };
  write(file, ports);
  return ports;
}

/** Another port for the webhook for tokens, which only our own kube-apiserver knows: another program has its port. */
export async function withOtherTokensPort(dir: string, ports: Ports): Promise<Ports> {
  const taken = new Set([...portsOfOthers(dir), ...Object.values(ports)]);
  const candidates = steadyPorts().filter((each) => !taken.has(each));
  const changed = { ...ports, tokens: await freePort("127.0.0.1", candidates) };
  write(join(dir, "ports.json"), changed);
  return changed;
}

function write(file: string, ports: Ports): void {
  writeFileSync(`${file}.new`, JSON.stringify(ports), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** One that was made before there was a webhook for tokens has no port for it. */
function read(file: string): (Omit<Ports, "tokens"> & Partial<Ports>) | undefined {
  try {
    const { api, etcd, peer, tokens } = JSON.parse(readFileSync(file, "utf8")) as Partial<Ports>;
    if (api === undefined || etcd === undefined || peer === undefined) return undefined;
    return { api, etcd, peer, ...(tokens === undefined ? {} : { tokens }) };
  } catch {
    return undefined;
  }
}

/** Those of control planes in folders next to `dir`: they hold them also while their programs are not running. */
function portsOfOthers(dir: string): Set<number> {
  const parent = dirname(dir);
  const folders = readdirSync(parent).filter((each) => each !== basename(dir));
  return new Set(folders.flatMap((each) => Object.values(read(join(parent, each, "ports.json")) ?? {})));
}

/** The first of these that is free now; where none is, any. */
async function freePort(host: string, candidates: readonly number[]): Promise<number> {
  for (const port of candidates) {
    const found = await opened(host, port).catch(() => undefined);
    if (found !== undefined) return found;
  }
  return opened(host, 0);
}

function opened(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(port, host, () => {
      const found = (server.address() as AddressInfo).port;
      server.close(() => resolve(found));
    });
  });
}
