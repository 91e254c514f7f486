/** Two processes that renew the credentials of one cluster at the same time: what the cluster has is always valid. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { CausewayError, silentLog } from "@causeway/foundation";
import { createInformers, Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";
import { connectCloud, issueToken, loadCloudsYaml } from "@causeway/openstack";
import type { TrusteeOptions } from "./access/trustees.ts";
import { readCredential, type ClusterCredential } from "./cluster/credentials.ts";
import { startMagnum } from "./magnum-api.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 120_000 });

/** What one process waits for when it replaces the Secret of a cluster. */
interface Gate {
  before?: (() => Promise<unknown>) | undefined;
  after?: (() => Promise<unknown>) | undefined;
}

/** Something that happens once. */
function once<T = void>() {
  return Promise.withResolvers<T>();
}

describe.each<[string, ((cloudsYaml: string) => TrusteeOptions) | undefined]>([
  ["credentials of members", undefined],
  [
    "credentials of users of clusters",
    (text) => ({ account: loadCloudsYaml({ cloud: "simulator-admin", text }), domain: "clusters", roles: ["member"] }),
  ],
])("%s", (_, trustees) => {
  let stage: Stage;
  let urls: readonly string[];
  const gates: [Gate, Gate] = [{}, {}];
  /** Every credential that a process wanted to write. */
  let issued: ClusterCredential[] = [];
  let uuid: string;
  const stopping = new AbortController();
  let running: Promise<unknown>;

  const through =
    (gate: Gate) =>
    (client: KubernetesClient): KubernetesClient =>
      new Proxy(client, {
        get(target, name) {
          const found = Reflect.get(target, name) as unknown;
          if (name !== "update") return typeof found === "function" ? (found.bind(target) as unknown) : found;
          const update: KubernetesClient["update"] = async (type, object, options) => {
            if (object.kind !== Secret.kind) return target.update(type, object, options);
            const text = secretText(object as unknown as Secret, "application-credential.json") ?? "{}";
            issued.push(JSON.parse(text) as ClusterCredential);
            await gate.before?.();
            const written = await target.update(type, object, options);
            await gate.after?.();
            return written;
          };
          return update;
        },
      });

  beforeAll(async () => {
    stage = await openStage({
      through: through(gates[0]),
      isFollower: true,
      ...(trustees === undefined ? {} : { trustees }),
    });
    const text = stage.simulator.cloudsYaml;
    const admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text }));
    await admin.identity.domains.create({ name: "clusters" });
    await admin.close();
    const using = { clock: stage.clock, log: silentLog };
    const informers = createInformers(through(gates[1])(stage.client), using);
    const second = await startMagnum({
      informers,
      keystone: { name: "simulator", authUrl: stage.simulator.authUrl },
      host: "127.0.0.1",
      port: 0,
      election: { namespace: "kube-system", identity: "second" },
      ...(trustees === undefined ? {} : { trustees: trustees(text) }),
      ...using,
    });
    running = Promise.all([informers.run(stopping.signal), second.run(stopping.signal)]);
    await informers.whenSynced();
    urls = [stage.url, `http://127.0.0.1:${second.port}`];
    const template = { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
    const made = await stage.call("demo", "POST", "/v1/clustertemplates", {
      body: { ...template, external_network_id: "public" },
    });
    const body = { name: "c", cluster_template_id: made.body["uuid"] };
    uuid = String((await stage.call("demo", "POST", "/v1/clusters", { body })).body["uuid"]);
  });
  afterAll(async () => {
    stopping.abort();
    await running;
    await stage.close();
  });
  beforeEach(async () => {
    Object.assign(gates[0], { before: undefined, after: undefined });
    Object.assign(gates[1], { before: undefined, after: undefined });
    issued = [await current()];
  });

  async function current(): Promise<ClusterCredential> {
    const labelSelector = `magnum.causeway.dev/uuid=${uuid}`;
    const [cluster] = (await stage.client.list(MagnumCluster, { labelSelector })).items;
    const found = cluster && (await readCredential(stage.client, cluster));
    if (found === undefined) throw new Error("the cluster has no credential");
    return found;
  }

  async function works({ id, secret }: ClusterCredential): Promise<boolean> {
    const { scope: __, ...config } = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
    return issueToken({ ...config, auth: { type: "application_credential", id, secret } }).then(
      () => true,
      () => false,
    );
  }

  async function renew(process: number): Promise<number> {
    const { status } = await fetch(`${urls[process]}/v1/credentials/${uuid}`, {
      method: "PATCH",
      headers: { "x-auth-token": stage.tokens.get("demo") ?? "", "openstack-api-version": "container-infra latest" },
    });
    return status;
  }

  /** What the cluster has is valid; after one more renewal nothing else is. */
  async function settle(): Promise<void> {
    expect(await works(await current())).toBe(true);
    Object.assign(gates[0], { before: undefined, after: undefined });
    expect(await renew(0)).toBe(202);
    const last = await current();
    const valid: string[] = [];
    for (const each of issued) if (await works(each)) valid.push(each.id);
    expect(valid).toEqual([last.id]);
  }

  it("both are issued before either is written: one request is refused, and the other one's is valid", async () => {
    const reached = [once(), once()] as const;
    const both = Promise.all(reached.map(({ promise }) => promise));
    for (const at of [0, 1] as const)
      gates[at].before = () => {
        reached[at].resolve();
        return both;
      };
    expect((await Promise.all([renew(0), renew(1)])).toSorted()).toEqual([202, 409]);
    await settle();
  });

  it("the other one is issued and written in between: the first request is refused, and revokes nothing of it", async () => {
    let others = 0;
    gates[0].before = async () => {
      gates[0].before = undefined;
      others = await renew(1);
    };
    expect([await renew(0), others]).toEqual([409, 202]);
    await settle();
  });

  it("the first revokes what is old while the other one is issued and not yet written: both are accepted", async () => {
    const [issuedSecond, endedFirst] = [once(), once()];
    gates[1].before = async () => {
      issuedSecond.resolve();
      await endedFirst.promise;
    };
    let second: Promise<number> | undefined;
    gates[0].after = async () => {
      gates[0].after = undefined;
      second = renew(1);
      await issuedSecond.promise;
    };
    expect(await renew(0)).toBe(202);
    endedFirst.resolve();
    expect(await second).toBe(202);
    await settle();
  });

  it("the answer to the write is lost: the request is accepted, and what was written is valid", async () => {
    gates[0].after = async () => {
      gates[0].after = undefined;
      throw new CausewayError("KUBERNETES_UNREACHABLE", "the connection was closed");
    };
    expect(await renew(0)).toBe(202);
    expect((await current()).id).toBe(issued.at(-1)?.id);
    await settle();
  });

  it("another change of the Secret meanwhile is kept, and refuses nothing", async () => {
    const { items } = await stage.client.list(Secret, { labelSelector: `magnum.causeway.dev/uuid=${uuid}` });
    const [secret] = items;
    const { namespace = "", name = "" } = secret?.metadata ?? {};
    gates[0].before = async () => {
      gates[0].before = undefined;
      const body = { metadata: { annotations: { touched: "yes" } } };
      await stage.client.patch(Secret, { namespace, name }, { type: "merge", body });
    };
    expect(await renew(0)).toBe(202);
    expect((await stage.client.get(Secret, { namespace, name })).metadata.annotations).toMatchObject({
      touched: "yes",
    });
    await settle();
  });
});
