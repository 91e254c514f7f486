/** What `causeway run magnum-api` refuses before it starts anything. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { renderKubeconfig } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { magnumApi } from "./action.ts";
import { magnumApiCommand, type MagnumApiFlags } from "./command.ts";

const dir = mkdtempSync(join(tmpdir(), "magnum-flags-"));
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
let flags: MagnumApiFlags;
let pair: { readonly crt: string; readonly key: string; readonly other: string };
beforeAll(async () => {
  const lifetime = 86_400_000;
  const authority = await createAuthority({ commonName: "test", lifetime });
  const issue = () => issueCertificate(authority, { commonName: "localhost", usages: ["server"], lifetime });
  const [own, another] = [await issue(), await issue()];
  pair = { crt: file("a.crt", own.certificate), key: file("a.key", own.key), other: file("b.key", another.key) };
  // Nothing listens there: what is refused is refused before it is called.
  const cluster = { server: "https://127.0.0.1:1", token: "t", clusterName: "c", userName: "u" };
  flags = {
    ...(magnumApiCommand(new AbortController().signal).opts() as MagnumApiFlags),
    keystoneUrl: "https://identity.example.org/v3",
    kubeconfig: file("kubeconfig", renderKubeconfig(cluster)),
    listen: "127.0.0.1:0",
    logLevel: "silent",
  };
});
afterAll(() => rmSync(dir, { recursive: true }));

const refusal = (changes: Partial<MagnumApiFlags>): Promise<unknown> =>
  magnumApi({ ...flags, ...changes }, new AbortController().signal).then(
    () => "it was started",
    (error: unknown) => error,
  );

describe("is refused at once, with a code", () => {
  test.for<[string, () => Partial<MagnumApiFlags>, string, RegExp]>([
    ["a Keystone that is not a URL", () => ({ keystoneUrl: "foo" }), "MAGNUM_FLAG_INVALID", /not the URL of Keystone/],
    ["a Keystone of another protocol", () => ({ keystoneUrl: "ftp://k/v3" }), "MAGNUM_FLAG_INVALID", /https:\/\/HOST/],
    [
      "a Keystone with a password, which is not repeated",
      () => ({ keystoneUrl: "https://user:s3cret@k/v3" }),
      "MAGNUM_FLAG_INVALID",
      /^(?!.*s3cret).*has a name or password/,
    ],
    [
      "an empty role of clusters' credentials",
      () => ({ trusteeRoles: "member," }),
      "MAGNUM_FLAG_INVALID",
      /--trustee-roles "member," is not a list of roles/,
    ],
    [
      "an authority that cannot be read",
      () => ({ keystoneCaFile: join(dir, "none") }),
      "MAGNUM_FLAG_INVALID",
      /--keystone-ca-file .*none cannot be read/,
    ],
    [
      "an authority that is none",
      () => ({ keystoneCaFile: file("ca", "text") }),
      "MAGNUM_FLAG_INVALID",
      /has no block BEGIN CERTIFICATE/,
    ],
    ["an address without a port", () => ({ listen: "127.0.0.1" }), "MAGNUM_FLAG_INVALID", /--listen/],
    [
      "a certificate without its key",
      () => ({ tlsCertFile: pair.crt }),
      "MAGNUM_FLAG_INVALID",
      /--tls-private-key-file belong together/,
    ],
    [
      "a key of another certificate",
      () => ({ tlsCertFile: pair.crt, tlsPrivateKeyFile: pair.other }),
      "MAGNUM_CERTIFICATE",
      /b\.key of --tls-private-key-file cannot be used/,
    ],
    ["a network that is none", () => ({ managementCidrs: "10.0.0.0/33" }), "MAGNUM_FLAG_INVALID", /--management-cidrs/],
    [
      "two targets of audit events",
      () => ({ auditFile: "a", auditUrl: "https://audit" }),
      "MAGNUM_FLAG_INVALID",
      /cannot be used together/,
    ],
    ["metrics without a port", () => ({ metricsAddress: "127.0.0.1" }), "METRICS_ADDRESS_INVALID", /has no port/],
  ])("%s", async ([, changes, code, says]) => {
    expect(await refusal(changes())).toMatchObject({ code, message: expect.stringMatching(says) as string });
  });
});
