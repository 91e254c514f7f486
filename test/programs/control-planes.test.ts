/**
 * One suite for every runtime of hosted control planes: the same cases on the embedded API server, on processes of
 * Kubernetes' own programs, and on pods of a service cluster, whose containers' commands a played node runs as
 * processes with the mounts, the user and the names that the pods have. The controller of HostedControlPlane brings up
 * each.
 */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HostedControlPlane } from "@causeway/api";
import { splitCertificates } from "@causeway/foundation";
import {
  ConfigMap,
  createClient,
  Deployment,
  loadKubeconfig,
  Namespace,
  Node,
  Pod,
  Secret,
  secretText,
  ServiceAccount,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { everyFlag, expectFlags } from "./control-planes/flags.ts";
import {
  available,
  create,
  key,
  managed,
  missingFor,
  startWorld,
  until,
  VERSION,
  type World,
} from "./runtime-world.ts";
import { readSharedEtcd } from "./shared-etcd.ts";

const signal = new AbortController().signal;

function sharedEtcd({ client }: World) {
  return readSharedEtcd(client, managed);
}

/** The certificates that the etcd of control plane "one" trusts. */
async function etcdAuthorities({ name, client, dir }: World): Promise<string[]> {
  if (name === "Process")
    return splitCertificates(readFileSync(join(dir, "state/default.one/pki/etcd-ca.crt"), "utf8"));
  if (name === "Embedded") return [];
  const { items } = await client.list(Secret, { labelSelector: managed });
  const found = items.find(({ metadata }) => metadata.name === "etcd-ca" && metadata.namespace?.startsWith("hcp-one-"));
  return splitCertificates(secretText(found, "ca.crt") ?? "");
}

/** The contents of all files below a folder that a search finds something in, byte by byte. */
function textsIn(dir: string, search: (text: string) => boolean): string[] {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap((entry) => {
    try {
      const text = readFileSync(join(entry.parentPath, entry.name)).toString("latin1");
      return search(text) ? [text] : [];
    } catch {
      // A program deleted it meanwhile.
      return [];
    }
  });
}

const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: key(name), data: { a: "b" } });

for (const name of ["Embedded", "Process", "Pods"] as const) {
  const why = missingFor(name);
  describe.skipIf(why !== undefined)(
    `a control plane of runtime ${name}${why === undefined ? "" : ` (${why})`}`,
    () => {
      let world: World;
      beforeAll(async () => {
        world = await startWorld(name);
        await Promise.all([create(world, "one"), create(world, "two")]);
        await available(world, "one");
      });
      afterAll(() => world.close());

      test("becomes available, with its version, its runtime and an endpoint", async () => {
        const { status } = await available(world, "one");
        expect(status).toMatchObject({
          version: VERSION,
          runtime: name,
          initialization: { controlPlaneInitialized: true },
        });
        const tenant = await world.tenant("one");
        expect(await tenant.request("GET", "/version")).toMatchObject({
          major: "1",
          minor: "34",
          gitVersion: expect.stringMatching(/^v1\.34\.4/) as string,
        });
        expect(await tenant.request("GET", "/readyz")).toBe("ok");
      });

      test("does not accept the credentials of another", async () => {
        await available(world, "two");
        const of = async (cluster: string) =>
          loadKubeconfig({
            text: secretText(await world.client.get(Secret, key(`${cluster}-kubeconfig`)), "value") ?? "",
          });
        const [one, two] = [await of("one"), await of("two")];
        const foreign = createClient({ ...two, server: one.server, ...("ca" in one ? { ca: one.ca } : {}) });
        await expect(foreign.list(Namespace)).rejects.toMatchObject({
          code: expect.stringMatching(/KUBERNETES_(UNAUTHORIZED|UNREACHABLE|FORBIDDEN)/) as string,
        });
        await foreign.close();
      });

      test("creates the default ServiceAccount and the root's ConfigMap in each namespace", async () => {
        const tenant = await world.tenant("one");
        await tenant.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
        await until("account", () => tenant.find(ServiceAccount, { namespace: "team", name: "default" }));
        const root = await until("root", () => tenant.find(ConfigMap, { namespace: "team", name: "kube-root-ca.crt" }));
        const { data } = await world.client.get(Secret, key("one-ca"));
        expect(root.data?.["ca.crt"]).toBe(Buffer.from(data?.["tls.crt"] ?? "", "base64").toString());
      });

      test("runs Deployments: pods are created and bound to a node, which gets a network", async () => {
        const tenant = await world.tenant("one");
        const allocatable = { cpu: "4", memory: "8Gi", pods: "110" };
        const conditions = [
          {
            type: "Ready",
            status: "True",
            reason: "KubeletReady",
            lastTransitionTime: new Date().toISOString(),
            lastHeartbeatTime: new Date().toISOString(),
          },
        ];
        await tenant.create(Node, { apiVersion: "v1", kind: "Node", metadata: { name: "worker" }, spec: {} } as Node);
        await tenant.patch(
          Node,
          { namespace: "", name: "worker" },
          { type: "merge", body: { status: { allocatable, capacity: allocatable, conditions } } },
          { subresource: "status" },
        );
        const labels = { app: "web" };
        await tenant.create(Deployment, {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: key("web"),
          spec: {
            replicas: 3,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "example.com/web:1" }] } },
          },
        } as Deployment);
        await until("bound", async () => {
          const { items } = await tenant.list(Pod, { namespace: "default" });
          return items.length === 3 && items.every(({ spec }) => spec.nodeName === "worker") ? true : undefined;
        });
        await until("network", async () => (await tenant.get(Node, { namespace: "", name: "worker" })).spec?.podCIDR);
      });

      test("keeps its objects, its endpoint and its credentials over a restart", async () => {
        const before = await available(world, "one");
        const tenant = await world.tenant("one");
        await tenant.create(ConfigMap, configMap("kept"));
        await world.restart();
        await until("back", async () => (await tenant.find(ConfigMap, key("kept"))) && true);
        expect((await available(world, "one")).status?.endpoint).toEqual(before.status?.endpoint);
      });

      test("serves more names when they are added", async () => {
        await world.client.patch(HostedControlPlane, key("one"), {
          type: "merge",
          body: { spec: { names: ["api.example.com"] } },
        });
        await until("applied", async () =>
          (await world.runtime.observe("default.one", signal))?.names.includes("api.example.com") ? true : undefined,
        );
        await available(world, "one");
        const tenant = await world.tenant("one");
        await until("serving", async () => (await tenant.find(ConfigMap, key("kept"))) && true);
      });

      test.runIf(name !== "Embedded")("runs its programs with every flag that a tenant may set", async () => {
        const setFlags = (flags: object | null) =>
          world.client.patch(HostedControlPlane, key("one"), { type: "merge", body: { spec: { flags } } });
        await setFlags(everyFlag());
        await expectFlags(await world.tenant("one"), until);
        await available(world, "one");
        await setFlags(null);
        await until("without the flags", async () => {
          const { flags, requested, starting } = (await world.runtime.observe("default.one", signal)) ?? {};
          const isSettled = flags === undefined && requested?.flags === undefined && starting !== true;
          return isSettled ? available(world, "one") : undefined;
        });
      });

      test.runIf(name !== "Pods")("believes users of Keystone, as the groups that their roles mean", async () => {
        await available(world, "two");
        const simulator = await startSimulator({ profile: "instant" });
        const config = (cloud: string) => loadCloudsYaml({ cloud, text: simulator.cloudsYaml });
        const cloud = connectCloud(config("simulator"));
        const projects = [await cloud.projectId()];
        await cloud.close();
        const roleMappings = [{ keystoneRole: "member", groups: ["system:masters"] }];
        const setKeystone = (keystone: object | null) =>
          world.client.patch(HostedControlPlane, key("two"), {
            type: "merge",
            body: { spec: { authentication: keystone === null ? null : { keystone } } },
          });
        const {
          certificate: _,
          key: __,
          ...anyone
        } = loadKubeconfig({
          text: secretText(await world.client.get(Secret, key("two-kubeconfig")), "value") ?? "",
        });
        const as = async (user: string): Promise<KubernetesClient> => {
          const { token } = await issueToken(config(user));
          return createClient({ ...anyone, token });
        };
        const [member, stranger] = [await as("simulator"), await as("simulator-alt")];
        const refused = { code: "KUBERNETES_UNAUTHORIZED" };
        await expect(member.list(Namespace)).rejects.toMatchObject(refused);
        await setKeystone({ authURL: simulator.authUrl, projects, roleMappings });
        await until("believed", async () => (await member.list(Namespace)).items.length > 0 || undefined);
        await expect(stranger.list(Namespace)).rejects.toMatchObject(refused);
        await setKeystone(null);
        await until("refused again", () =>
          member.list(Namespace).then(
            () => undefined,
            () => true as const,
          ),
        );
        await until("serving", async () => (await world.tenant("two")).list(Namespace).then(() => true as const));
        await Promise.all([member.close(), stranger.close()]);
        await simulator.close();
      });

      // Each stage starts etcd and the API servers again. What a failed attempt left is not where another one begins.
      test(
        "trusts two authorities during a rotation, and only the new one after it",
        { timeout: 900_000, retry: 0 },
        async () => {
          const text = async () => secretText(await world.client.get(Secret, key("one-kubeconfig")), "value") ?? "";
          const rotate = (authorities: object) =>
            world.client.patch(HostedControlPlane, key("one"), { type: "merge", body: { spec: { authorities } } });
          // As pods, each of several stages starts etcd and the API servers again: minutes on a busy machine.
          const phase = (wanted: string) =>
            until(
              `phase ${wanted}`,
              async () => {
                const object = await available(world, "one");
                return object.status?.authorities?.phase === wanted ? object : undefined;
              },
              4_500,
            );
          const clients: KubernetesClient[] = [];
          const clientOf = (kubeconfig: string): KubernetesClient => {
            const client = createClient(loadKubeconfig({ text: kubeconfig }));
            clients.push(client);
            return client;
          };
          const tokenOf = async (client: KubernetesClient): Promise<string> => {
            const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
            const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
            return ((await client.request("POST", path, { body })) as { status: { token: string } }).status.token;
          };
          const believes = async (client: KubernetesClient, token: string): Promise<boolean> => {
            const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
            const path = "/apis/authentication.k8s.io/v1/tokenreviews";
            const { status } = (await client.request("POST", path, { body })) as {
              status: { authenticated?: boolean };
            };
            return status.authenticated === true;
          };
          const etcdBefore = await etcdAuthorities(world);
          const old = await text();
          const oldToken = await until("token", () => tokenOf(clientOf(old)));
          const rotateAfter = `${new Date().toISOString().slice(0, 19)}Z`;
          await rotate({ rotateAfter });
          await phase("Prepared");
          const both = splitCertificates(secretText(await world.client.get(Secret, key("one-ca")), "tls.crt") ?? "");
          expect(both).toHaveLength(2);
          const [before, middle] = [clientOf(old), clientOf(await text())];
          const newToken = await until("a new token", () => tokenOf(middle));
          const inTheMiddle = await until("a verdict on both tokens", async () => [
            await believes(before, newToken),
            await believes(middle, oldToken),
          ]);
          expect(inTheMiddle).toEqual([true, true]);
          await until("both in kube-root-ca.crt", async () => {
            const map = await middle.get(ConfigMap, { namespace: "default", name: "kube-root-ca.crt" });
            return splitCertificates(map.data?.["ca.crt"] ?? "").join("") === both.join("") ? true : undefined;
          });
          await rotate({ rotateAfter, retireOldAfter: rotateAfter });
          await phase("Current");
          const last = clientOf(await text());
          await until("the new authority alone", async () => {
            const map = await last.get(ConfigMap, { namespace: "default", name: "kube-root-ca.crt" });
            return map.data?.["ca.crt"] === both[0] ? true : undefined;
          });
          const atTheEnd = await until("a verdict on both tokens after it", async () => [
            await believes(last, oldToken),
            await believes(last, newToken),
          ]);
          expect(atTheEnd).toEqual([false, true]);
          // etcd has an authority of its own where it is a program of its own.
          const etcdAfter = await etcdAuthorities(world);
          expect(etcdAfter).toHaveLength(name === "Embedded" ? 0 : 1);
          for (const each of etcdAfter) expect(etcdBefore).not.toContain(each);
          await expect(clientOf(old).list(Namespace)).rejects.toThrow();
          const {
            certificate,
            key: privateKey,
            ...rest
          } = loadKubeconfig({ text: old }) as unknown as Record<"certificate" | "key" | "server", string>;
          const foreign = createClient({ server: rest.server, ca: both[0] ?? "", certificate, key: privateKey });
          clients.push(foreign);
          await expect(foreign.list(Namespace)).rejects.toMatchObject({ code: "KUBERNETES_UNAUTHORIZED" });
          for (const client of clients) await client.close();
        },
      );

      test.skipIf(name === "Embedded")(
        "keeps Secrets encrypted, and records who changed what, without content",
        async () => {
          const tenant = await world.tenant("one");
          const [word, plain] = ["audited-secret", `plain-${randomUUID()}`];
          await tenant.create(Secret, {
            apiVersion: "v1",
            kind: "Secret",
            metadata: key(word),
            data: { word: Buffer.from(plain).toString("base64") },
          } as Secret);
          await tenant.create(ConfigMap, { ...configMap("plain"), data: { word: `also-${plain}` } });
          const audited = await until("audit", async () => {
            const lines = textsIn(
              world.dir,
              (text) => text.includes(`"name":"${word}"`) && text.includes("audit.k8s.io"),
            );
            return lines.length > 0 ? lines.join("\n") : undefined;
          });
          expect(audited).toContain('"verb":"create"');
          expect(audited).not.toContain(plain);
          expect(audited).not.toContain(Buffer.from(plain).toString("base64"));
          const isIn = (text: string) => text.includes(plain) || text.includes(Buffer.from(plain).toString("base64"));
          // What is not encrypted is found by the same search.
          const found = textsIn(world.dir, isIn).join("");
          expect(found).toContain(`also-${plain}`);
          expect(found.replaceAll(`also-${plain}`, "")).not.toContain(plain);
        },
      );

      test.runIf(name === "Pods")("in the shared etcd has a user that may touch its own prefix only", async () => {
        await available(world, "two");
        const { users, prefixes, permissions } = await sharedEtcd(world);
        const [two] = prefixes;
        expect(prefixes).toEqual([expect.stringMatching(/^\/hcp-two-[0-9a-f]{10}\/$/)]);
        const user = two?.slice(1, -1) ?? "";
        expect(users.toSorted()).toEqual([user, "root"]);
        // All of its prefix, and nothing else; the two keys that it may only read are of the policy of its budget.
        expect([permissions[0]?.key, permissions.at(-1)?.range_end]).toEqual([two, `/${user}0`]);
        expect(permissions.every((each) => each.key.startsWith(two ?? ""))).toBe(true);
        const readable = permissions.filter(({ permType }) => permType === "READ").map((each) => each.key);
        expect(readable).toEqual([
          `${two}registry/validatingadmissionpolicies/causeway-storage-budget`,
          `${two}registry/validatingadmissionpolicybindings/causeway-storage-budget`,
        ]);
      });

      test("is deleted with everything that it had", async () => {
        await world.client.delete(HostedControlPlane, key("two"));
        await until("gone", async () =>
          (await world.client.find(HostedControlPlane, key("two"))) === undefined ? true : undefined,
        );
        expect(await world.runtime.observe("default.two", signal)).toBeUndefined();
        const state = join(world.dir, "state");
        if (name === "Process") expect(readdirSync(state)).toEqual(["default.one"]);
        if (name === "Pods") {
          const { items } = await world.client.list(Namespace, { labelSelector: managed });
          const ids = items.map(({ metadata }) => metadata.annotations?.["controlplane.causeway.dev/id"]);
          expect(new Set(ids)).toEqual(new Set(["default.one", "etcd"]));
          expect(await sharedEtcd(world)).toEqual({ users: ["root"], permissions: [], prefixes: [] });
        }
        expect(await (await world.tenant("one")).find(ConfigMap, key("kept"))).toBeDefined();
      });
    },
  );
}
