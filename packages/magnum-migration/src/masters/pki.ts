import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { InputError, verifyChain } from "@causeway/foundation";
import { readFileOf } from "./units.ts";
import type { MachineShell } from "./shell.ts";

/** Where the driver has its keys on a master. */
const files = {
  ca: "/etc/kubernetes/certs/ca.crt",
  caKey: "/etc/kubernetes/certs/ca.key",
  serviceAccount: "/etc/kubernetes/certs/service_account.key",
  serviceAccountKey: "/etc/kubernetes/certs/service_account_private.key",
  frontProxy: "/etc/kubernetes/certs/front-proxy/ca.crt",
  etcdCa: "/etc/etcd/certs/ca.crt",
  etcd: "/etc/etcd/certs/server.crt",
  etcdKey: "/etc/etcd/certs/server.key",
} as const;

/** Of a master, as PEM. Only label cert_manager_api=true puts `caKey` there. */
export type MasterFiles = { readonly [name in Exclude<keyof typeof files, "caKey">]: string } & {
  readonly caKey?: string;
};

const known = new WeakMap<object, Map<string, MasterFiles>>();

/** As `readMasterFiles`, once for each run of a command: reaching a machine takes long. */
export async function knownMasterFiles(
  tools: { readonly shell: MachineShell },
  address: string,
  signal: AbortSignal,
): Promise<MasterFiles> {
  const own = known.get(tools) ?? new Map<string, MasterFiles>();
  known.set(tools, own);
  const found = own.get(address) ?? (await readMasterFiles(tools, address, signal));
  own.set(address, found);
  return found;
}

/** Reads the keys and certificates that are adopted. @throws MIGRATE_KEY_MISSING, MIGRATE_KEY_MISMATCH */
async function readMasterFiles(
  tools: { readonly shell: MachineShell },
  address: string,
  signal: AbortSignal,
): Promise<MasterFiles> {
  const read: Record<string, string> = {};
  const entries = Object.entries(files);
  const texts = await Promise.all(entries.map(([, path]) => readFileOf(tools, address, path, signal)));
  for (const [index, [name, path]] of entries.entries()) {
    const text = texts[index];
    if (name === "caKey" && text === undefined) continue;
    if (text === undefined || !text.includes("-----BEGIN"))
      throw new InputError("MIGRATE_KEY_MISSING", `The master at ${address} has no PEM in ${path}`, {
        hint: "Take the file over from another master.",
      });
    read[name] = text;
  }
  const found = read as unknown as MasterFiles;
  requireMatch(found, address);
  return found;
}

/** Keys of other certificates would break every client: they are compared before anything is made of them. */
function requireMatch(found: MasterFiles, address: string): void {
  const mismatch = (what: string) =>
    new InputError("MIGRATE_KEY_MISMATCH", `On the master at ${address}, ${what} do not belong together`, {
      hint: "Compare the masters with each other; a rotation may be incomplete.",
    });
  const { caKey } = found;
  if (caKey !== undefined && !new X509Certificate(found.ca).checkPrivateKey(createPrivateKey(caKey)))
    throw mismatch(`${files.ca} and ${files.caKey}`);
  const spki = (pem: string) => createPublicKey(pem).export({ type: "spki", format: "der" });
  if (!spki(found.serviceAccount).equals(spki(found.serviceAccountKey)))
    throw mismatch(`${files.serviceAccount} and ${files.serviceAccountKey}`);
  if (!verifyChain(found.etcd, found.etcdCa)) throw mismatch(`${files.etcd} and ${files.etcdCa}`);
}
