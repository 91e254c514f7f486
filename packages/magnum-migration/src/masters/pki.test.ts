/** The keys and certificates of a master: which are needed, and which have to match. */
import { generateKeyPairSync } from "node:crypto";
import { CausewayError, createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { beforeAll, expect, test } from "vitest";
import { knownMasterFiles } from "./pki.ts";

const signal = new AbortController().signal;
const certs = "/etc/kubernetes/certs";
let files: Readonly<Record<string, string>>;
let ca: KeyPair;
let etcdCa: KeyPair;
beforeAll(async () => {
  const of = (commonName: string) => createAuthority({ commonName, lifetime: 86_400_000 });
  [ca, etcdCa] = [await of("web"), await of("etcd")];
  const etcd = await issueCertificate(etcdCa, { commonName: "etcd", usages: ["server"], lifetime: 3_600_000 });
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  files = {
    [`${certs}/ca.crt`]: ca.certificate,
    [`${certs}/ca.key`]: ca.key,
    [`${certs}/service_account.key`]: pair.publicKey.export({ type: "spki", format: "pem" }).toString(),
    [`${certs}/service_account_private.key`]: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    [`${certs}/front-proxy/ca.crt`]: ca.certificate,
    "/etc/etcd/certs/ca.crt": etcdCa.certificate,
    "/etc/etcd/certs/server.crt": etcd.certificate,
    "/etc/etcd/certs/server.key": etcd.key,
  };
});

/** Reads a master that has the files but those of `changes`; undefined: it has no such file. */
function read(changes: Readonly<Record<string, string | undefined>>) {
  const own: Readonly<Record<string, string | undefined>> = { ...files, ...changes };
  const shell = {
    run: async (_address: string, [, path = ""]: readonly string[]) => {
      const text = own[path];
      if (text !== undefined) return text;
      throw new CausewayError("MIGRATE_SHELL_FAILED", `cat: ${path}: No such file or directory`, { hint: "none" });
    },
  };
  return knownMasterFiles({ shell }, "10.0.0.4", signal);
}

test("a master without the key of its CA is read, as the driver makes it by default", async () => {
  expect(await read({})).toMatchObject({ ca: ca.certificate, caKey: ca.key });
  const found = await read({ [`${certs}/ca.key`]: undefined });
  expect(found.ca).toBe(ca.certificate);
  expect(found.caKey).toBeUndefined();
});

test.for<[string, () => Readonly<Record<string, string | undefined>>, string]>([
  ["without a certificate of etcd", () => ({ "/etc/etcd/certs/server.crt": undefined }), "MIGRATE_KEY_MISSING"],
  ["with something else in its place", () => ({ [`${certs}/ca.key`]: "\n" }), "MIGRATE_KEY_MISSING"],
  ["with the key of another CA", () => ({ [`${certs}/ca.key`]: etcdCa.key }), "MIGRATE_KEY_MISMATCH"],
  [
    "with etcd's certificate of another CA",
    () => ({ "/etc/etcd/certs/ca.crt": ca.certificate }),
    "MIGRATE_KEY_MISMATCH",
  ],
])("a master %s is refused", async ([, changes, code]) => {
  await expect(read(changes())).rejects.toThrow(expect.objectContaining({ code }));
});
