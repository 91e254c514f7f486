/** The servers that programs are run against, each with a kubeconfig of its administrator. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueCertificate } from "@causeway/foundation";
import { startEmbedded } from "../contracts/kubernetes/embedded.ts";
import type { ServerName, Target } from "../contracts/kubernetes/interface.ts";
import { startKubeApiserver } from "../contracts/kubernetes/kube-apiserver.ts";
import { programs } from "./programs.ts";

const DAY = 86_400_000;

export interface Server {
  readonly name: ServerName;
  /** A folder of the test's own; gone at close. */
  readonly dir: string;
  /** A file. */
  readonly kubeconfig: string;
  readonly target: Target;
  readonly close: () => Promise<void>;
}

/** Which servers there are, or why one is missing. */
export function servers(): readonly { name: ServerName; missing?: string }[] {
  const { kubernetes } = programs();
  const real = "reason" in kubernetes ? { missing: kubernetes.reason } : {};
  return [{ name: "causeway" }, { name: "kube-apiserver", ...real }];
}

export async function startServer(name: ServerName): Promise<Server> {
  const target = await (name === "causeway" ? startEmbedded() : startKubeApiserver());
  const dir = mkdtempSync(join(tmpdir(), "programs-"));
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, await administrator(target), { mode: 0o600 });
  return {
    name,
    dir,
    kubeconfig,
    target,
    async close() {
      await target.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A kubeconfig, in JSON, of a user in system:masters. */
export async function administrator({ url, ca, authority }: Target): Promise<string> {
  const { certificate, key } = await issueCertificate(authority, {
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: DAY,
  });
  const user = { "client-certificate-data": base64(certificate), "client-key-data": base64(key) };
  return kubeconfigOf({ url, ca }, user);
}

/** A kubeconfig, in JSON, with one context. */
export function kubeconfigOf({ url, ca }: { url: string; ca: string }, user: Record<string, string>): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "tried", cluster: { server: url, "certificate-authority-data": base64(ca) } }],
    users: [{ name: "admin", user }],
    contexts: [{ name: "admin@tried", context: { cluster: "tried", user: "admin" } }],
    "current-context": "admin@tried",
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
