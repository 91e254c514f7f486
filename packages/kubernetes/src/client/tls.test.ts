import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { createAuthority, issueCertificate, type CausewayError } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClusterConfig } from "../config/interface.ts";
import { createClient } from "./client.ts";

const DAY = 86_400_000;

describe("a Kubernetes client over TLS:", () => {
  const server = { url: "", stop: async () => {} };
  let config: ClusterConfig;

  beforeAll(async () => {
    const authority = await createAuthority({ commonName: "test-ca", lifetime: DAY });
    const serving = await issueCertificate(authority, {
      commonName: "api",
      dnsNames: ["api.example"],
      usages: ["server"],
      lifetime: DAY,
    });
    const person = await issueCertificate(authority, { commonName: "jane", usages: ["client"], lifetime: DAY });
    const https = createServer(
      { cert: serving.certificate, key: serving.key, ca: authority.certificate, requestCert: true },
      (request, response) => {
        const who = (request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? "no certificate";
        response.end(JSON.stringify({ who, http: request.httpVersion }));
      },
    );
    await new Promise<void>((resolve) => https.listen(0, "127.0.0.1", resolve));
    server.url = `https://127.0.0.1:${(https.address() as AddressInfo).port}`;
    server.stop = () => new Promise((resolve) => https.close(() => resolve()));
    config = {
      server: server.url,
      ca: authority.certificate,
      tlsServerName: "api.example",
      certificate: person.certificate,
      key: person.key,
    };
  });
  afterAll(() => server.stop());

  const ask = async (change: Partial<ClusterConfig>): Promise<unknown> => {
    const client = createClient({ ...config, ...change });
    try {
      return await client.request("GET", "/whoami");
    } finally {
      await client.close();
    }
  };

  test("the client certificate says who we are", async () => {
    expect(await ask({})).toEqual({ who: "jane", http: "1.1" });
  });

  test.each<[string, Partial<ClusterConfig>]>([
    ["another authority", { ca: "" }],
    ["another name", { tlsServerName: "other.example" }],
  ])("a server certificate for %s is refused, saying what to check", async (_, change) => {
    const error = (await ask(change).catch((reason: unknown) => reason)) as CausewayError;
    expect(error.code).toBe("KUBERNETES_UNREACHABLE");
    expect(error.hint).toContain("certificate-authority-data");
  });

  test("insecure-skip-tls-verify checks nothing", async () => {
    expect(await ask({ ca: "", tlsServerName: "other.example", insecureSkipTlsVerify: true })).toMatchObject({
      who: "jane",
    });
  });
});
