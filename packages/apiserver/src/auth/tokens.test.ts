import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAuthority, issueCertificate, VirtualClock } from "@causeway/foundation";
import type { ApiServer, GuardOptions, LogicalClusterOptions } from "../interface.ts";
import { at, record, text, type Json } from "../json/json.ts";
import { startApiServer } from "../start.ts";
import { rawClient, type Raw } from "../testing/client.ts";

const DAY = 86_400_000;
const NAMESPACE = "/api/v1/namespaces/default";

const opened: { close(): unknown }[] = [];
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tokens-"));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((o) => o.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function start(management: GuardOptions, clock?: VirtualClock): Promise<ApiServer> {
  const server = await startApiServer({ management, ...(clock ? { clock } : {}) });
  opened.push(server);
  return server;
}

async function admin(server: ApiServer, name = ""): Promise<Raw> {
  const cluster = name === "" ? server.management : server.cluster(name);
  if (!cluster) throw new Error(`there is no ${name}`);
  const api = await rawClient(cluster);
  opened.push(api);
  return api;
}

async function review(api: Raw, token: string, audiences?: readonly string[]): Promise<Json> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
  return record((await api.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", body)).body["status"]);
}

/** An HTTPS server on loopback that answers with what `answer` gives, or this status. */
async function serve(answer: (path: string, body: string) => Json | number): Promise<{ url: string; ca: string }> {
  const authority = await createAuthority({ commonName: "test authority", lifetime: DAY });
  const subject = { commonName: "test", ipAddresses: ["127.0.0.1"], usages: ["server"], lifetime: DAY } as const;
  const { certificate, key } = await issueCertificate(authority, subject);
  const server: Server = createServer({ cert: certificate, key }, (request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const given = answer(request.url ?? "", body);
      response.statusCode = typeof given === "number" ? given : 200;
      response.end(JSON.stringify(given));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: authority.certificate };
}

function signed(claims: Json, key: KeyObject, kid = "k"): string {
  const parts = [{ alg: "RS256", kid }, claims].map((p) => Buffer.from(JSON.stringify(p)).toString("base64url"));
  return `${parts.join(".")}.${sign("sha256", Buffer.from(parts.join(".")), key).toString("base64url")}`;
}

describe("token issuers", () => {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const now = () => Math.floor(Date.now() / 1000);

  async function provider(): Promise<{ url: string; ca: string; asked: string[] }> {
    const asked: string[] = [];
    const jwk = { ...keys.publicKey.export({ format: "jwk" }), kid: "k", alg: "RS256", use: "sig" };
    const { url, ca } = await serve((path) => {
      asked.push(path);
      if (path === "/keys") return { keys: [jwk] };
      return path === "/.well-known/openid-configuration" ? { issuer: url, jwks_uri: `${url}/keys` } : 404;
    });
    return { url, ca, asked };
  }

  it("given as flags have their keys requested once, when the first token comes", async () => {
    const { url, ca, asked } = await provider();
    const oidc = { issuerUrl: url, clientId: "me", groupsClaim: "groups", certificateAuthority: ca };
    const api = await admin(await start({ authentication: { oidc } }));
    expect(asked).toEqual([]);
    const token = signed({ iss: url, aud: "me", sub: "jane", groups: ["dev"], exp: now() + 60 }, keys.privateKey);
    for (let i = 0; i < 3; i += 1) {
      expect(await review(api, token)).toMatchObject({
        authenticated: true,
        user: { username: `${url}#jane`, groups: ["dev", "system:authenticated"] },
      });
    }
    expect(asked).toEqual(["/.well-known/openid-configuration", "/keys"]);
  });

  it("are not requested again and again for tokens with unknown keys", async () => {
    const { url, ca, asked } = await provider();
    const clock = new VirtualClock(Date.now());
    const oidc = { issuerUrl: url, clientId: "me", certificateAuthority: ca };
    const api = await admin(await start({ authentication: { oidc } }, clock));
    for (let i = 0; i < 5; i += 1) {
      const token = signed({ iss: url, aud: "me", sub: "a", exp: now() + 60 }, keys.privateKey, `odd-${i}`);
      expect((await review(api, token))["authenticated"]).toBeUndefined();
    }
    expect(asked.length).toBe(2);
  });

  it("that cannot be reached leave their tokens unknown, and nothing else harmed", async () => {
    const oidc = { issuerUrl: "https://127.0.0.1:1", clientId: "me" };
    const api = await admin(await start({ authentication: { oidc } }));
    const token = signed({ iss: oidc.issuerUrl, aud: "me", sub: "a", exp: now() + 60 }, keys.privateKey);
    expect(await review(api, token)).toMatchObject({ error: expect.stringContaining("oidc: verify token") });
    expect((await api.call("GET", "/version")).code).toBe(200);
  });
});

describe("the response of an issuer or a webhook", () => {
  const large = { padding: " ".repeat(1_048_577) };

  it("is bounded, and the error names the issuer", async () => {
    const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
    for (const path of ["/.well-known/openid-configuration", "/keys"]) {
      const { url, ca } = await serve((asked) =>
        asked === path ? large : { issuer: url, jwks_uri: `${url}/keys`, keys: [] },
      );
      const oidc = { issuerUrl: url, clientId: "me", certificateAuthority: ca };
      const api = await admin(await start({ authentication: { oidc } }));
      const token = signed({ iss: url, aud: "me", sub: "a", exp: Date.now() / 1000 + 60 }, keys.privateKey);
      const why = `oidc: issuer ${url}: ${url}${path} returned more than 262144 bytes`;
      expect((await review(api, token))["error"]).toContain(why);
    }
  });
});

describe("anonymous requests", () => {
  const configuration = (anonymous: Json): Json => ({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    anonymous,
  });
  it.each<[GuardOptions, number, number]>([
    [{}, 200, 200],
    [{ authentication: { anonymous: false } }, 401, 401],
    [{ authentication: { configuration: configuration({ enabled: false }) } }, 401, 401],
    [{ authentication: { configuration: configuration({ enabled: true }) } }, 200, 200],
    [
      { authentication: { configuration: configuration({ enabled: true, conditions: [{ path: "/livez" }] }) } },
      200,
      401,
    ],
  ])("with %j get %i at /livez and %i at /version", async (management, livez, version) => {
    const server = await start(management);
    const wrongToken = await rawClient(server.management, { token: "" });
    opened.push(wrongToken);
    expect((await wrongToken.call("GET", "/livez")).code).toBe(livez);
    expect((await wrongToken.call("GET", "/version")).code).toBe(version);
  });
});

describe("a token webhook", () => {
  async function webhook(answer: (spec: Json) => Json | number): Promise<{ asked: Json[]; kubeconfigFile: string }> {
    const asked: Json[] = [];
    const { url, ca } = await serve((_path, body) => {
      const spec = record(record(JSON.parse(body))["spec"]);
      asked.push(spec);
      const given = answer(spec);
      return typeof given === "number" ? given : { status: given };
    });
    const kubeconfigFile = join(dir, "webhook.kubeconfig");
    const authority = Buffer.from(ca).toString("base64");
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": authority } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    writeFileSync(kubeconfigFile, JSON.stringify(kubeconfig));
    return { asked, kubeconfigFile };
  }

  it("says whose token it is, for two minutes", async () => {
    const { asked, kubeconfigFile } = await webhook((spec) =>
      spec["token"] === "good"
        ? { authenticated: true, user: { username: "jane", uid: "1", groups: ["dev"], extra: { a: ["b"] } } }
        : { authenticated: false },
    );
    const clock = new VirtualClock(Date.now());
    const api = await admin(await start({ authentication: { webhook: { kubeconfigFile } } }, clock));
    const expected = { username: "jane", uid: "1", groups: ["dev", "system:authenticated"], extra: { a: ["b"] } };
    expect(await review(api, "good")).toMatchObject({ authenticated: true, user: expected });
    await review(api, "good");
    expect((await review(api, "bad"))["error"]).toBe("invalid bearer token");
    expect(asked.map((a) => a["token"])).toEqual(["good", "bad"]);
    await clock.advance(121_000);
    await review(api, "good");
    expect(asked.length).toBe(3);
  });

  it("is called with audiences, and confirms some of them", async () => {
    const { asked, kubeconfigFile } = await webhook(() => ({
      authenticated: true,
      user: { username: "jane" },
      audiences: ["b", "c"],
    }));
    const api = await admin(await start({ authentication: { webhook: { kubeconfigFile } } }));
    expect(await review(api, "good", ["a", "b"])).toMatchObject({ authenticated: true, audiences: ["b"] });
    expect(asked[0]?.["audiences"]).toEqual(["a", "b"]);
    expect((await review(api, "good", ["a"]))["authenticated"]).toBeUndefined();
  });

  it("that fails leaves tokens unknown, and its answer is not kept", async () => {
    let up = false;
    const { kubeconfigFile } = await webhook(() => (up ? { authenticated: true, user: { username: "jane" } } : 500));
    const clock = new VirtualClock(Date.now());
    const api = await admin(await start({ authentication: { webhook: { kubeconfigFile } } }, clock));
    const first = review(api, "good");
    let over = false;
    void first.finally(() => (over = true));
    await expect
      .poll(async () => {
        await clock.advance(1000);
        return over;
      })
      .toBe(true);
    expect((await first)["error"]).toMatch(/the webhook at 127\.0\.0\.1:\d+ failed: it returned 500/);
    up = true;
    expect((await review(api, "good"))["authenticated"]).toBe(true);
  });
});

describe("keys of service-account tokens", () => {
  const pem = () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    return {
      secret: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      open: publicKey.export({ type: "spki", format: "pem" }).toString(),
    };
  };

  async function tokenOf(api: Raw): Promise<string> {
    await api.call("POST", `${NAMESPACE}/serviceaccounts`, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "r" },
    });
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { body } = await api.call("POST", `${NAMESPACE}/serviceaccounts/r/token`, request);
    return text(at(body, "status", "token"));
  }

  it("are rotated: tokens of the old one hold while its public key is given", async () => {
    const [old, fresh] = [pem(), pem()];
    const server = await start({});
    const make = (options: LogicalClusterOptions) => server.ensureCluster("c", options);
    await make({ serviceAccountKey: old.secret });
    const token = await tokenOf(await admin(server, "c"));
    await make({ serviceAccountKey: fresh.secret, serviceAccountVerificationKeys: [old.open] });
    const api = await admin(server, "c");
    expect((await review(api, token))["authenticated"]).toBe(true);
    expect((await review(api, await tokenOf(api)))["authenticated"]).toBe(true);
    await make({ serviceAccountVerificationKeys: [] });
    expect((await review(await admin(server, "c"), token))["error"]).toMatch(/invalid signature/);
  });

  it("sign tokens without an end for Secrets that ask for one, which count as long as the Secret", async () => {
    const server = await start({});
    await server.ensureCluster("c", {});
    const api = await admin(server, "c");
    await tokenOf(api);
    const secret = (name: string, annotations: Json, stringData: Json = {}): Json => ({
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/service-account-token",
      metadata: { name, annotations: { "kubernetes.io/service-account.name": "r", ...annotations } },
      stringData,
    });
    const put = async (name: string, annotations: Json = {}, data: Json = {}): Promise<void> => {
      expect((await api.call("POST", `${NAMESPACE}/secrets`, secret(name, annotations, data))).code).toBe(201);
    };
    const kept = async (name: string): Promise<{ code: number; value: (key: string) => string; uid: unknown }> => {
      const { code, body } = await api.call("GET", `${NAMESPACE}/secrets/${name}`);
      const value = (key: string): string => Buffer.from(text(at(body, "data", key)), "base64").toString();
      return { code, value, uid: at(body, "metadata", "annotations", "kubernetes.io/service-account.uid") };
    };
    await put("kept");
    await expect.poll(async () => (await kept("kept")).value("token")).not.toBe("");
    const { value, uid } = await kept("kept");
    expect(value("namespace")).toBe("default");
    expect(value("ca.crt")).toContain("BEGIN CERTIFICATE");
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    const token = value("token");
    const user = { username: "system:serviceaccount:default:r", uid };
    expect(await review(api, token)).toMatchObject({ authenticated: true, user });
    const robot = await rawClient(server.management, { token });
    opened.push(robot);
    expect((await robot.call("GET", "/version")).code).toBe(401);
    await put("of-another", { "kubernetes.io/service-account.uid": "another" });
    await expect.poll(async () => (await kept("of-another")).code).toBe(404);
    await put("copied", {}, { token: `${token.slice(0, -4)}AAAA` });
    expect((await review(api, (await kept("copied")).value("token")))["error"]).toMatch(/invalid signature/);
    await api.call("DELETE", `${NAMESPACE}/secrets/kept`);
    expect((await review(api, token))["error"]).toMatch(/Token has been invalidated/);
    await put("kept", {}, { token: "other" });
    expect((await review(api, token))["error"]).toMatch(/Token does not match server's copy/);
    await api.call("DELETE", `${NAMESPACE}/serviceaccounts/r`);
    await expect.poll(async () => (await kept("kept")).code).toBe(404);
  });

  it("are reported when they cannot be used", async () => {
    const server = await start({});
    const made = server.ensureCluster("c", { serviceAccountVerificationKeys: ["nonsense"] });
    await expect(made).rejects.toMatchObject({ code: "SERVICE_ACCOUNT_KEY_INVALID" });
  });
});
