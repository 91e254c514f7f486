import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { afterAll, describe, expect, it } from "vitest";
import type { CloudTls } from "../config/config.ts";
import { connectCloud } from "../connect.ts";
import { HastyClock, scriptedCloud } from "../testing/scripted-cloud.ts";

const folder = mkdtempSync(join(tmpdir(), "transport-"));
const DAMAGED = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
afterAll(() => rmSync(folder, { recursive: true }));

describe("a TLS connection of the SDK", async () => {
  const authority = await createAuthority({ commonName: "test", lifetime: 3_600_000 });
  const server = { commonName: "cloud", ipAddresses: ["127.0.0.1"], usages: ["server"], lifetime: 3_600_000 } as const;
  const pair = await issueCertificate(authority, server);
  const client = await issueCertificate(authority, { commonName: "me", usages: ["client"], lifetime: 3_600_000 });

  const call = async (tls: CloudTls | undefined, demand = false): Promise<string> => {
    const demands = demand ? { ca: authority.certificate, requestCert: true, rejectUnauthorized: true } : {};
    const cloud = await scriptedCloud(() => undefined, { tls: { key: pair.key, cert: pair.certificate, ...demands } });
    const connected = connectCloud({ ...cloud.config, ...(tls && { tls }) }, { clock: new HastyClock() });
    try {
      return await connected.projectId();
    } finally {
      await connected.close();
      await cloud.close();
    }
  };

  it("trusts the authority of cacert", async () => expect(await call({ ca: authority.certificate })).toBe("p-1"));
  it("trusts no other authority", async () => {
    await expect(call(undefined)).rejects.toMatchObject({
      code: "OPENSTACK_TLS",
      hint: expect.stringContaining("cacert"),
    });
  });
  it("trusts any certificate with verify: false", async () => expect(await call({ verify: false })).toBe("p-1"));
  it("presents a client certificate", async () => {
    const tls = { ca: authority.certificate, certificate: client.certificate, key: client.key };
    expect(await call(tls, true)).toBe("p-1");
  });
  it.each<[string, (file: string) => CloudTls, string, string]>([
    ["an authority that is no PEM", (caFile) => ({ caFile }), "garbage", "cacert"],
    ["an empty authority", (caFile) => ({ caFile }), "", "cacert"],
    ["an authority with a damaged certificate", (caFile) => ({ caFile }), `${pair.certificate}${DAMAGED}`, "cacert"],
    ["a client certificate that is a key", (certificateFile) => ({ certificateFile }), pair.key, "cert"],
    ["a key that is a certificate", (keyFile) => ({ keyFile }), pair.certificate, "key"],
    ["another certificate's key", (keyFile) => ({ keyFile, certificate: client.certificate }), pair.key, "key"],
  ])("refuses %s, with its path and advice", async (_, tls, content, setting) => {
    const file = join(folder, "some.pem");
    writeFileSync(file, content);
    await expect(call(tls(file))).rejects.toMatchObject({
      code: "CLOUD_CONFIG_INVALID",
      message: expect.stringContaining(`The ${setting} file ${file} is not usable PEM: `),
      hint: expect.stringContaining("PEM"),
    });
  });
  it("shows no part of a key given as text that is broken", async () => {
    const refused = call({ certificate: client.certificate, key: "topsecret" });
    await expect(refused).rejects.toMatchObject({ message: expect.not.stringContaining("topsecret") });
  });
  it("names the file of the entry that cannot be read", async () => {
    await expect(call({ caFile: "/nowhere/ca.pem" })).rejects.toMatchObject({
      code: "CLOUD_CONFIG_INVALID",
      message: expect.stringContaining("/nowhere/ca.pem"),
    });
  });
});
