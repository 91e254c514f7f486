import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAuthority } from "@causeway/foundation";
import type { AuthenticationOptions, ExternalAuthenticators, ExternalUser } from "../contract/authentication.ts";
import type { Cluster } from "../contract/cluster.ts";
import type { Json } from "../json/json.ts";
import { jose } from "../lazy-imports.ts";
import { startListener, type TestListener } from "../testing/https.ts";
import { clusterWith } from "../testing/objects.ts";
import { accountKeys } from "./account-keys.ts";
import { clusterTokens, haveSameRemotes } from "./tokens.ts";

const ISSUER = "https://kubernetes.default.svc";
const pem = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const KEYS = accountKeys(pem(), []);
const base64 = (value: string): string => Buffer.from(value).toString("base64");
const BOOTSTRAP = "abcdef.0123456789abcdef";

async function clusterOf(): Promise<Cluster> {
  const data = { "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true" };
  const cluster = await clusterWith({
    "/serviceaccounts": [{ metadata: { name: "robot", namespace: "ns", uid: "u" } }],
    "/secrets": [
      {
        type: "bootstrap.kubernetes.io/token",
        metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
        data: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, base64(value)])),
      },
    ],
  });
  return { ...cluster, issuer: ISSUER, accountKeys: KEYS, log: {} } as unknown as Cluster;
}

interface External {
  readonly made?: () => void;
  readonly users?: Readonly<Record<string, ExternalUser>>;
  readonly asked?: string[];
  readonly closed?: () => void;
}

function badges({ made, users = {}, asked = [], closed = () => {} }: External): ExternalAuthenticators {
  return {
    badges: (settings) => {
      made?.();
      return {
        verify(token) {
          asked.push(`${String(settings["office"])} ${token}`);
          if (token === "away") return Promise.reject(new Error("the office is closed"));
          return Promise.resolve(users[token]);
        },
        close: closed,
      };
    },
  };
}
const EXTERNAL: AuthenticationOptions = { external: { type: "badges", settings: { office: "berlin" } } };

/** A token of a service account that is signed and named so. */
async function accountToken(cluster: Cluster, more: Json = {}): Promise<string> {
  const now = Math.floor(cluster.clock.now() / 1000);
  const facts = { namespace: "ns", serviceaccount: { name: "robot", uid: "u" } };
  const { key, algorithm, id } = KEYS.signing;
  const claims = { iss: ISSUER, aud: [ISSUER], exp: now + 3600, "kubernetes.io": facts, ...more };
  return new (jose().SignJWT)(claims).setProtectedHeader({ alg: algorithm, kid: id }).sign(key);
}

describe("a bearer token", () => {
  test("may be that of a service account", async () => {
    const cluster = await clusterOf();
    const found = await clusterTokens(cluster).verify(await accountToken(cluster));
    expect(found).toMatchObject({ user: { name: "system:serviceaccount:ns:robot" }, audiences: [ISSUER] });
  });

  test("may be a bootstrap token, for the server itself", async () => {
    const tokens = clusterTokens(await clusterOf());
    const found = await tokens.verify(BOOTSTRAP, ["x", ISSUER]);
    expect(found).toMatchObject({
      user: { name: "system:bootstrap:abcdef", groups: ["system:bootstrappers", "system:authenticated"] },
      audiences: [ISSUER],
    });
    expect(await tokens.verify(BOOTSTRAP, ["x"])).toEqual({ error: "invalid bearer token" });
    expect(await tokens.verify("abcdef.0000000000000000")).toEqual({ error: "invalid bearer token" });
  });

  test("may be one of an external authenticator, for the server itself", async () => {
    const asked: string[] = [];
    const users = {
      anna: { username: "anna", groups: ["g"] },
      berta: { username: "berta", uid: "u", groups: [], extra: { floor: ["2"] } },
    };
    const tokens = clusterTokens(await clusterOf(), EXTERNAL, badges({ users, asked }));
    expect(await tokens.verify("anna")).toStrictEqual({
      user: { name: "anna", groups: ["g", "system:authenticated"] },
      audiences: [ISSUER],
    });
    expect(await tokens.verify("berta", [ISSUER, "x"])).toEqual({
      user: { name: "berta", uid: "u", groups: ["system:authenticated"], extra: { floor: ["2"] } },
      audiences: [ISSUER],
    });
    expect(await tokens.verify("clara")).toEqual({ error: "invalid bearer token" });
    expect(asked).toEqual(["berlin anna", "berlin berta", "berlin clara"]);
    expect(await tokens.verify("anna", ["x"])).toEqual({ error: "invalid bearer token" });
    expect(asked).toHaveLength(3);
  });

  test("is refused with all that went wrong", async () => {
    const cluster = await clusterOf();
    const tokens = clusterTokens(cluster, EXTERNAL, badges({}));
    expect(await tokens.verify("away")).toEqual({ error: "[invalid bearer token, the office is closed]" });
    const expired = await accountToken(cluster, { exp: 1 });
    expect(await tokens.verify(expired)).toEqual({
      error: "[invalid bearer token, service account token has expired]",
    });
  });

  test("is not sent to other authenticators once it is found", async () => {
    const asked: string[] = [];
    const tokens = clusterTokens(await clusterOf(), EXTERNAL, badges({ asked }));
    await tokens.verify(BOOTSTRAP);
    expect(asked).toEqual([]);
  });

  test("of a key that the server has no more is refused", async () => {
    const cluster = { ...(await clusterOf()) };
    const tokens = clusterTokens(cluster);
    const token = await accountToken(cluster);
    expect(await tokens.verify(token)).toHaveProperty("user");
    (cluster as { accountKeys: Cluster["accountKeys"] }).accountKeys = accountKeys(pem(), []);
    expect(await tokens.verify(token)).toEqual({ error: "[invalid bearer token, invalid signature]" });
  });

  test("of an issuer that is configured, for the server itself", async () => {
    const jwt = (iss: string): string => `${base64url({ alg: "RS256" })}.${base64url({ iss, aud: "x" })}.e30`;
    const base64url = (value: Json): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const oidc = { issuerUrl: "https://127.0.0.1:1", clientId: "x" } as AuthenticationOptions["oidc"];
    const tokens = clusterTokens(await clusterOf(), { ...(oidc && { oidc }) });
    expect(await tokens.verify(jwt("https://127.0.0.1:1"))).toEqual({
      error: expect.stringMatching(/^\[invalid bearer token, oidc: /) as unknown,
    });
    expect(await tokens.verify(jwt("https://other"))).toEqual({ error: "invalid bearer token" });
    expect(await tokens.verify(jwt("https://127.0.0.1:1"), ["x"])).toEqual({ error: "invalid bearer token" });
    const limited = clusterTokens(await clusterOf(), { ...(oidc && { oidc }), issuerNetworks: ["192.0.2.0/24"] });
    expect(await limited.verify(jwt("https://127.0.0.1:1"))).toEqual({
      error: expect.stringContaining("127.0.0.1 is a loopback address, so it is not requested") as unknown,
    });
  });
});

describe("another server that knows tokens", () => {
  let listener: TestListener;
  let dir: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "cluster-tokens-"));
    listener = await startListener();
  });
  afterAll(() => {
    listener.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test("may be a webhook", async () => {
    const kubeconfigFile = join(dir, "kubeconfig");
    const authority = base64(listener.ca);
    const config = {
      clusters: [{ name: "c", cluster: { server: listener.url, "certificate-authority-data": authority } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      users: [{ name: "u", user: {} }],
      "current-context": "x",
    };
    writeFileSync(kubeconfigFile, JSON.stringify(config));
    listener.answer = () => [200, '{"status":{"authenticated":true,"user":{"username":"anna"}}}'];
    const tokens = clusterTokens(await clusterOf(), { webhook: { kubeconfigFile } });
    expect(await tokens.verify("t")).toMatchObject({ user: { name: "anna" }, audiences: [ISSUER] });
    tokens.close();
  });

  test("may be an issuer", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "k", alg: "RS256", use: "sig" }];
    const discovery = { issuer: listener.url, jwks_uri: `${listener.url}/keys` };
    listener.answer = ({ path }) => [200, JSON.stringify(path === "/keys" ? { keys } : discovery)];
    const cluster = await clusterOf();
    const now = Math.floor(cluster.clock.now() / 1000);
    const signed = (iss: string): Promise<string> =>
      new (jose().SignJWT)({ iss, aud: "x", sub: "berta", exp: now + 60 })
        .setProtectedHeader({ alg: "RS256", kid: "k" })
        .sign(privateKey);
    const oidc = { issuerUrl: listener.url, clientId: "x", certificateAuthority: listener.ca, usernamePrefix: "-" };
    const tokens = clusterTokens(cluster, { oidc });
    expect(await tokens.verify(await signed(listener.url))).toEqual({
      user: { name: "berta", groups: ["system:authenticated"] },
      audiences: [ISSUER],
    });
    expect(await tokens.verify(await signed("https://other"))).toEqual({ error: "invalid bearer token" });
  });
});

describe("the authenticators of a cluster", () => {
  test("are closed", async () => {
    let closed = 0;
    const tokens = clusterTokens(await clusterOf(), EXTERNAL, badges({ closed: () => (closed += 1) }));
    tokens.close();
    expect(closed).toBe(1);
    clusterTokens(await clusterOf()).close();
  });

  test("are known, and those of their own", async () => {
    const cluster = await clusterOf();
    for (const type of ["cards", "toString"]) {
      expect(() => clusterTokens(cluster, { external: { type, settings: {} } }, badges({}))).toThrow(
        `external.type: this server has no authenticator "${type}"`,
      );
    }
  });

  const issuer = {
    issuer: { url: "https://a.example", audiences: ["x"] },
    claimMappings: { username: { claim: "sub", prefix: "" } },
  };
  const configured = (more: Json): Json => ({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    ...more,
  });
  test("have their issuers in one place", async () => {
    const cluster = await clusterOf();
    const oidc = { issuerUrl: "https://b.example", clientId: "x" } as NonNullable<AuthenticationOptions["oidc"]>;
    const configuration = configured({ jwt: [issuer] });
    expect(() => clusterTokens(cluster, { configuration, oidc })).toThrow(
      "oidc: issuers are in the configuration already",
    );
    expect(() => clusterTokens(cluster, { configuration: configured({}), oidc })).not.toThrow();
    expect(() => clusterTokens(cluster, { configuration })).not.toThrow();
    const own = configured({ jwt: [{ ...issuer, issuer: { ...issuer.issuer, url: ISSUER } }] });
    expect(() => clusterTokens(cluster, { configuration: own })).toThrow("it is the issuer of service accounts");
  });

  const anonymous = (more: Json): AuthenticationOptions => ({ configuration: configured({ anonymous: more }) });
  test.each<[string, AuthenticationOptions, boolean, boolean]>([
    ["by default", {}, true, true],
    ["where they are", { anonymous: true }, true, true],
    ["not where they are not", { anonymous: false }, false, false],
    ["where the configuration says so", anonymous({ enabled: true }), true, true],
    ["at the paths that it names", anonymous({ enabled: true, conditions: [{ path: "/livez" }] }), true, false],
    ["not where it says that they are not", anonymous({ enabled: false }), false, false],
    ["not where it does not say that they are", anonymous({}), false, false],
    ["as without one where it says nothing of them", { configuration: configured({}), anonymous: false }, false, false],
  ])("admit requests without credentials %s", async (_what, options, livez, other) => {
    const tokens = clusterTokens(await clusterOf(), options);
    expect([tokens.admitsAnonymous("/livez"), tokens.admitsAnonymous("/api")]).toEqual([livez, other]);
  });

  test.each<[AuthenticationOptions, string]>([
    [{ ...anonymous({ enabled: true }), anonymous: true }, "anonymous: it is set next to the configuration too"],
    [
      anonymous({ enabled: false, conditions: [{ path: "/livez" }] }),
      "anonymous.conditions: enabled should be set to true when conditions are defined",
    ],
    [{ webhook: { kubeconfigFile: "/absent" } }, "/absent"],
  ])("are refused where they contradict each other, and none is opened then: %#", async (options, message) => {
    const cluster = await clusterOf();
    let made = 0;
    const authenticators = badges({ made: () => (made += 1) });
    expect(() => clusterTokens(cluster, { ...options, ...EXTERNAL }, authenticators)).toThrow(message);
    expect(made).toBe(0);
  });
});

describe("a change of a cluster's authenticators", () => {
  const webhook = { kubeconfigFile: "/a", cacheTtl: 1 };
  const external = { type: "badges", settings: { a: 1, b: 2 } };
  test.each<[string, AuthenticationOptions, AuthenticationOptions, boolean]>([
    ["nothing", { webhook, external }, { external: { settings: { b: 2, a: 1 }, type: "badges" }, webhook }, true],
    ["all but its connections", { webhook, anonymous: true, issuerNetworks: [] }, { webhook, configuration: {} }, true],
    ["the webhook", { webhook }, { webhook: { ...webhook, cacheTtl: 2 } }, false],
    ["whether there is a webhook", { webhook, external }, { external }, false],
    ["the external authenticator", { external }, { external: { ...external, settings: {} } }, false],
    ["whether there is an external authenticator", { webhook, external }, { webhook }, false],
  ])("that concerns %s", (_what, before, after, isSame) => {
    expect([haveSameRemotes(before, after), haveSameRemotes(after, before)]).toEqual([isSame, isSame]);
  });

  test("takes over what is open", async () => {
    let made = 0;
    const cluster = await clusterOf();
    const authenticators = badges({ made: () => (made += 1) });
    const before = clusterTokens(cluster, EXTERNAL, authenticators);
    const { remotes } = clusterTokens(cluster, EXTERNAL, authenticators, before);
    expect([made, remotes]).toEqual([1, before.remotes]);
    expect(clusterTokens(cluster, EXTERNAL, authenticators, {}).remotes.external).not.toBe(remotes.external);
  });

  const issuer = { url: "https://a.test", audiences: ["x"], discoveryURL: "https://b.test" };
  const options = (more: Json = {}, rest: AuthenticationOptions = {}): AuthenticationOptions => {
    const entry = { issuer: { ...issuer, ...more }, claimMappings: { username: { claim: "sub", prefix: "" } } };
    const kind = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration" };
    return { configuration: { ...kind, jwt: [entry] }, ...rest };
  };
  const networks = { issuerNetworks: ["192.0.2.0/24"] };
  test.each<[string, AuthenticationOptions, boolean]>([
    ["keeps the keys of an issuer that is the same", options(), true],
    ["keeps its keys where its tokens are for others now", options({ audiences: ["y"] }), true],
    ["forgets its keys where it has another URL", options({ url: "https://c.test" }), false],
    ["forgets its keys where they are elsewhere", options({ discoveryURL: "https://c.test" }), false],
    ["forgets its keys where networks limit it now", options({}, networks), false],
  ])("%s", async (_what, after, isKept) => {
    await expectKeys(options(), after, isKept);
  });

  test("forgets the keys of an issuer where another authority is trusted, or other networks limit it", async () => {
    const { certificate } = await createAuthority({ commonName: "a", lifetime: 3600_000 });
    await expectKeys(
      options({ certificateAuthority: certificate }),
      options({ certificateAuthority: certificate }),
      true,
    );
    await expectKeys(options({ certificateAuthority: certificate }), options(), false);
    await expectKeys(options({}, networks), options({}, networks), true);
    await expectKeys(options({}, networks), options({}, { issuerNetworks: ["198.51.100.0/24"] }), false);
  });

  async function expectKeys(
    first: AuthenticationOptions,
    then: AuthenticationOptions,
    areKept: boolean,
  ): Promise<void> {
    const cluster = await clusterOf();
    const before = clusterTokens(cluster, first);
    const after = clusterTokens(cluster, then, {}, before);
    expect([before.keys.size, after.keys.size]).toEqual([1, 1]);
    expect([...after.keys.values()][0] === [...before.keys.values()][0]).toBe(areKept);
  }
});
