import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import type { ServerName } from "../../contracts/kubernetes/interface.ts";
import { startKubeApiserver } from "../../contracts/kubernetes/kube-apiserver.ts";
import { kubeconfigOf } from "../../programs/servers.ts";
import { freePort } from "../../support/free-ports.ts";
import { causeway } from "../../support/processes.ts";

const DAY = 86_400_000;
const STARTUP = 60_000;

/** A server of its own process, with what an installer would give its controllers. */
export interface Server {
  readonly name: ServerName;
  readonly url: string;
  readonly authority: KeyPair;
  /** PEM, with which controllers sign the tokens of accounts. */
  readonly accountKey: string;
  readonly close: () => Promise<void>;
}

/** Kubernetes' own, on etcd. */
async function startTheirs(): Promise<Server> {
  const { name, url, authority, auditLog, close } = await startKubeApiserver();
  const accountKey = readFileSync(join(dirname(auditLog), "sa.key"), "utf8");
  return { name, url, authority, accountKey, close };
}

/** `causeway apiserver` on a state folder of its own in `dir`. */
async function startOurs(dir: string, flags: readonly string[]): Promise<Server> {
  const state = join(dir, "state");
  const authority = await createAuthority({ commonName: "kubernetes", lifetime: DAY });
  mkdirSync(join(state, "management"), { recursive: true, mode: 0o700 });
  const keep = (name: string, text: string): void =>
    writeFileSync(join(state, "management", name), text, { mode: 0o600 });
  keep("ca.crt", authority.certificate);
  keep("ca.key", authority.key);
  const port = await freePort();
  const started = causeway(["apiserver", "--state", state, "--port", String(port), ...flags]);
  await started.until(/Kubernetes API at/u, STARTUP);
  return {
    name: "causeway",
    url: `https://127.0.0.1:${port}`,
    authority,
    accountKey: readFileSync(join(state, "management", "sa.key"), "utf8"),
    close: async () => void (await started.stop("SIGTERM")),
  };
}

/** `flags`: more of `causeway apiserver`. */
export function startServer(name: ServerName, dir: string, flags: readonly string[] = []): Promise<Server> {
  return name === "causeway" ? startOurs(dir, flags) : startTheirs();
}

/** A kubeconfig, in JSON, of a user with a certificate for a day. */
export async function kubeconfigFor(
  { url, authority }: Pick<Server, "url" | "authority">,
  { user, groups = [] }: { user: string; groups?: readonly string[] },
): Promise<string> {
  const { certificate, key } = await issueCertificate(authority, {
    commonName: user,
    organizations: [...groups],
    usages: ["client"],
    lifetime: DAY,
  });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const identity = { "client-certificate-data": base64(certificate), "client-key-data": base64(key) };
  return kubeconfigOf({ url, ca: authority.certificate }, identity);
}
