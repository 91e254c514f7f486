/**
 * Tenants name issuers of tokens (OpenID Connect): their users come in, another issuer takes the place of one while
 * watches continue, and no issuer gives names of Kubernetes itself. On our API server and on kube-apiserver.
 */
import { HostedControlPlane } from "@causeway/api";
import { ConfigMap, createClient, isUnauthorized, loadKubeconfig, Secret, secretText } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startIssuer, type Issuer } from "../contracts/kubernetes/issuer.ts";
import { available, create, key, missingFor, startWorld, until, type World } from "./runtime-world.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

interface OwnIssuer extends Issuer {
  readonly entry: object;
}

async function startOwn(prefix: string): Promise<OwnIssuer> {
  const issuer = await startIssuer();
  const [{ url, certificateAuthority }] = (
    issuer.configuration["jwt"] as [{ issuer: { url: string; certificateAuthority: string } }]
  ).map((each) => each.issuer) as [{ url: string; certificateAuthority: string }];
  const entry = {
    issuer: { url, certificateAuthority, audiences: ["kubernetes"] },
    claimMappings: { username: { claim: "sub", prefix }, groups: { claim: "groups", prefix: "" } },
  };
  return { ...issuer, entry };
}

for (const name of ["Embedded", "Process", "Pods"] as const) {
  const why = missingFor(name);
  describe.skipIf(why !== undefined)(
    `a control plane of runtime ${name} with issuers${why === undefined ? "" : ` (${why})`}`,
    () => {
      let world: World;
      let first: OwnIssuer;
      let second: OwnIssuer;
      beforeAll(async () => {
        [first, second] = [await startOwn("first:"), await startOwn("second:")];
        world = await startWorld(name);
        await create(world, "one", { authentication: { jwt: [first.entry] } });
        await available(world, "one");
      });
      afterAll(async () => {
        await world?.close();
        await first?.close();
        await second?.close();
      });

      /** The name and groups of a token's user; undefined: the token is refused. */
      async function whoIs(token: string): Promise<{ username: string; groups: string[] } | undefined> {
        const { value } = { value: secretText(await world.client.get(Secret, key("one-kubeconfig")), "value") };
        const { server, ca = "", tlsServerName } = loadKubeconfig({ text: value ?? "" });
        const client = createClient({ server, ca, token, ...(tlsServerName === undefined ? {} : { tlsServerName }) });
        const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
        try {
          const found = await client.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", { body });
          return (found as { status: { userInfo: { username: string; groups: string[] } } }).status.userInfo;
        } catch (error) {
          if (isUnauthorized(error)) return undefined;
          throw error;
        } finally {
          await client.close();
        }
      }

      const isRefused = (token: string) => async () => ((await whoIs(token)) === undefined ? true : undefined);
      const believe = (...jwt: object[]) =>
        world.client.patch(HostedControlPlane, key("one"), {
          type: "merge",
          body: { spec: { authentication: { jwt } } },
        });

      test("accepts a token of its issuer, and none of another or with names of Kubernetes itself", async () => {
        const user = await until("user", () => whoIs(first.token({ sub: "ada", groups: ["team"] })));
        expect(user.username).toBe("first:ada");
        expect(user.groups.toSorted()).toEqual(["system:authenticated", "team"]);
        expect(await whoIs(second.token({ sub: "ada" }))).toBeUndefined();
        expect(await whoIs(first.token({ sub: "ada", groups: ["team", "system:masters"] }))).toBeUndefined();
        expect(await whoIs(first.token({ sub: "ada", groups: ["kubeadm:cluster-admins"] }))).toBeUndefined();
        expect(await whoIs(first.token({ sub: "ada", aud: "other" }))).toBeUndefined();
        expect(await whoIs(first.token({ sub: "ada" }, { foreign: true }))).toBeUndefined();
      });

      test("gets another issuer, and none, while a watch continues", async () => {
        const tenant = await world.tenant("one");
        const { resourceVersion } = await tenant.list(ConfigMap, { namespace: "default" });
        const ended = new AbortController();
        const seen: string[] = [];
        let closed: unknown;
        const watching = (async () => {
          const options = { namespace: "default", resourceVersion, signal: ended.signal };
          for await (const event of tenant.watch(ConfigMap, options))
            if (event.type === "ADDED" && event.object.metadata.name.startsWith("seen-"))
              seen.push(event.object.metadata.name);
          closed = "ended";
        })().catch((error: unknown) => (closed = error));
        const write = (each: string) =>
          tenant.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: key(`seen-${each}`) });

        await write("before");
        const began = performance.now();
        await believe(second.entry);
        await until("the other issuer", () => whoIs(second.token({ sub: "ada" })));
        process.stderr.write(`${name}: another issuer after ${Math.round(performance.now() - began)} ms\n`);
        await until("the first one is refused", isRefused(first.token({ sub: "ada" })));
        await write("between");
        await believe(first.entry, second.entry);
        await until("both", () => whoIs(first.token({ sub: "eve" })));
        expect(await whoIs(second.token({ sub: "eve" }))).toMatchObject({ username: "second:eve" });
        await believe();
        await until("none", isRefused(second.token({ sub: "joe" })));
        expect(await whoIs(first.token({ sub: "joe" }))).toBeUndefined();
        await write("after");
        await until("all events", async () => (seen.length === 3 ? true : undefined));
        expect(seen).toEqual(["seen-before", "seen-between", "seen-after"]);
        expect(closed).toBeUndefined();
        ended.abort();
        await watching;
      });

      test.skipIf(name === "Embedded")(
        "says which issuer its API servers do not accept, and when they do",
        async () => {
          const down = {
            ...first.entry,
            issuer: { url: "https://127.0.0.1:1/realms/down", audiences: ["kubernetes"] },
          };
          const condition = async (status: string) => {
            const { status: has } = await world.client.get(HostedControlPlane, key("one"));
            const found = has?.conditions?.find(({ type }) => type === "IssuersAccepted");
            return found?.status === status ? found : undefined;
          };
          await until("the issuers of before are accepted", () => condition("True"), 4_000);
          const began = performance.now();
          await believe(first.entry, down);
          const refused = await until("the issuers are refused", () => condition("False"), 4_000);
          process.stderr.write(
            `${name}: refused after ${Math.round(performance.now() - began)} ms: ${refused.message}\n`,
          );
          expect(refused.reason).toBe("IssuersNotAccepted");
          // Played nodes have no output of pods: one of both is meant.
          expect(refused.message).toContain(`${down.issuer.url} did not respond`);
          if (name === "Process") expect(refused.message).not.toContain("at least one of");
          expect(await whoIs(first.token({ sub: "eve" }))).toBeUndefined();
          await believe(first.entry);
          await until("they are accepted", () => condition("True"), 4_000);
          expect(await whoIs(first.token({ sub: "eve" }))).toMatchObject({ username: "first:eve" });
        },
      );
    },
  );
}
