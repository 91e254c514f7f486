import { createAuthority, issueCertificate } from "@causeway/foundation";
import { describe, expect, it } from "vitest";
import type { CloudTls } from "../config/config.ts";
import { connectCloud } from "../connect.ts";
import { HastyClock, scriptedCloud } from "../testing/scripted-cloud.ts";

describe("TLS", async () => {
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
  it("names the file of the entry that cannot be read", async () => {
    await expect(call({ caFile: "/nowhere/ca.pem" })).rejects.toMatchObject({
      code: "CLOUD_CONFIG_INVALID",
      message: expect.stringContaining("/nowhere/ca.pem"),
    });
  });
});
