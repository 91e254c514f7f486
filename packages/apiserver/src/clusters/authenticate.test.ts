import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap, createClient, isUnauthorized, loadKubeconfig } from "@causeway/kubernetes";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, expect, test } from "vitest";
import type { AuthenticationOptions } from "../contract/authentication.ts";
import { startApiServer } from "../start.ts";
import { startListener } from "../testing/https.ts";

const dir = mkdtempSync(join(tmpdir(), "authenticate-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function startIssuer() {
  const listener = await startListener();
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: "k", alg: "RS256", use: "sig" }];
  listener.answer = ({ path }) =>
    path === "/keys"
      ? [200, JSON.stringify({ keys })]
      : [200, JSON.stringify({ issuer: listener.url, jwks_uri: `${listener.url}/keys` })];
  const entry = {
    issuer: { url: listener.url, audiences: ["cluster"], certificateAuthority: listener.ca },
    claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
  };
  const token = () =>
    new SignJWT({ sub: "ada" })
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setIssuer(listener.url)
      .setAudience("cluster")
      .setExpirationTime("1h")
      .sign(privateKey);
  return { entry, token, close: () => listener.close() };
}

const believing = (...jwt: object[]): AuthenticationOptions => ({
  configuration: { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthenticationConfiguration", jwt },
  issuerNetworks: ["127.0.0.0/8"],
});

test("another issuer is believed at once, and after a restart; the watches that are open continue", async () => {
  const [first, second] = [await startIssuer(), await startIssuer()];
  let server = await startApiServer({ dir });
  const listen = { host: "127.0.0.1", port: 0, names: [] };
  const cluster = await server.ensureCluster("tenant", { listen, authentication: believing(first.entry) });
  const kubeconfig = await cluster.kubeconfig();
  const { ca = "", server: url } = loadKubeconfig({ text: kubeconfig });
  const who = async (token: string): Promise<string> => {
    const client = createClient({ server: url, ca, token });
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const name = await client.request("POST", path, { body: review }).then(
      (found) => (found as { status: { userInfo: { username: string } } }).status.userInfo.username,
      (error: unknown) => (isUnauthorized(error) ? "401" : String(error)),
    );
    await client.close();
    return name;
  };
  const client = createClient(loadKubeconfig({ text: kubeconfig }));
  const ended = new AbortController();
  const { resourceVersion } = await client.list(ConfigMap, { namespace: "default" });
  const options = { namespace: "default", resourceVersion, signal: ended.signal };
  const seen: string[] = [];
  let closed = 0;
  const watching = (async () => {
    for await (const event of client.watch(ConfigMap, options))
      if (event.type === "ADDED" && event.object.metadata.name !== "kube-root-ca.crt")
        seen.push(event.object.metadata.name);
    closed += 1;
  })().catch(() => {});
  const create = (name: string) =>
    client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name } });

  const [before, after] = [await first.token(), await second.token()];
  await create("before");
  expect([await who(before), await who(after)]).toEqual(["oidc:ada", "401"]);
  await server.ensureCluster("tenant", { listen, authentication: believing(second.entry) });
  expect([await who(before), await who(after)]).toEqual(["401", "oidc:ada"]);

  // What cannot be used is refused, and nothing is changed.
  const invalid = believing({ ...first.entry, issuer: { ...first.entry.issuer, audiences: [] } });
  await expect(server.ensureCluster("tenant", { listen, authentication: invalid })).rejects.toMatchObject({
    code: "AUTHENTICATION_CONFIG_INVALID",
  });
  expect([await who(before), await who(after)]).toEqual(["401", "oidc:ada"]);
  await server.ensureCluster("tenant", { listen, authentication: {} });
  expect([await who(before), await who(after)]).toEqual(["401", "401"]);
  await server.ensureCluster("tenant", { listen, authentication: believing(first.entry, second.entry) });

  await create("after");
  await expect.poll(() => seen).toEqual(["before", "after"]);
  expect(closed).toBe(0);
  ended.abort();
  await watching;
  await client.close();
  await server.close();

  server = await startApiServer({ dir });
  expect([await who(before), await who(after)]).toEqual(["oidc:ada", "oidc:ada"]);
  await server.close();
  first.close();
  second.close();
});

test("an issuer that is down is believed on while others change, by the keys that are known", async () => {
  const [first, second] = [await startIssuer(), await startIssuer()];
  const server = await startApiServer({ dir: mkdtempSync(join(dir, "keys-")) });
  const listen = { host: "127.0.0.1", port: 0, names: [] };
  const cluster = await server.ensureCluster("tenant", { listen, authentication: believing(first.entry) });
  const { ca = "", server: url } = loadKubeconfig({ text: await cluster.kubeconfig() });
  const isBelieved = async (token: string): Promise<boolean> => {
    const client = createClient({ server: url, ca, token });
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const found = client.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: review });
    return found.then(
      () => client.close().then(() => true),
      () => client.close().then(() => false),
    );
  };
  const [one, two] = [await first.token(), await second.token()];
  expect(await isBelieved(one)).toBe(true);
  first.close();
  await server.ensureCluster("tenant", { listen, authentication: believing(first.entry, second.entry) });
  expect([await isBelieved(one), await isBelieved(two)]).toEqual([true, true]);
  // Where it may not be requested any more, its keys are not believed either.
  const elsewhere = { ...believing(first.entry), issuerNetworks: ["192.0.2.0/24"] };
  await server.ensureCluster("tenant", { listen, authentication: elsewhere });
  expect(await isBelieved(one)).toBe(false);
  await server.close();
  second.close();
});

test("an external authenticator serves on when issuers change, and is closed when its settings do", async () => {
  const own = mkdtempSync(join(dir, "external-"));
  const events: string[] = [];
  const server = await startApiServer({
    dir: own,
    authenticators: {
      badges: ({ office }) => {
        events.push(`open ${String(office)}`);
        return {
          verify: async (token) =>
            token === "anna" ? { username: `anna of ${String(office)}`, groups: [] } : undefined,
          close: () => events.push(`close ${String(office)}`),
        };
      },
    },
  });
  const issuer = await startIssuer();
  const of = (office: string) => ({ external: { type: "badges", settings: { office } } });
  const listen = { host: "127.0.0.1", port: 0, names: [] };
  const cluster = await server.ensureCluster("tenant", { listen, authentication: of("berlin") });
  const who = async (): Promise<string> => {
    const { ca = "", server: url } = loadKubeconfig({ text: await cluster.kubeconfig() });
    const client = createClient({ server: url, ca, token: "anna" });
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const found = await client.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body: review });
    await client.close();
    return (found as { status: { userInfo: { username: string } } }).status.userInfo.username;
  };
  expect(events).toEqual(["open berlin"]);
  await server.ensureCluster("tenant", { listen, authentication: { ...of("berlin"), ...believing(issuer.entry) } });
  await server.ensureCluster("tenant", { listen, authentication: { ...of("berlin"), ...believing() } });
  expect(await who()).toBe("anna of berlin");
  expect(events).toEqual(["open berlin"]);
  await server.ensureCluster("tenant", { listen, authentication: { ...of("bonn"), ...believing() } });
  expect(await who()).toBe("anna of bonn");
  expect(events).toEqual(["open berlin", "open bonn", "close berlin"]);
  await server.close();
  expect(events).toEqual(["open berlin", "open bonn", "close berlin", "close bonn"]);
  issuer.close();
});
