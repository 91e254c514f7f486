import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@causeway/foundation";
import { Lease, Node } from "@causeway/kubernetes";
import type { World } from "@causeway/cloud-controller-manager/testing";
import type { Server } from "@causeway/openstack";

const HEARTBEAT = 5_000;
/** What a kubelet asks for (seconds). */
const LEASE = 40;

/**
 * The servers of one group, each with as much of a kubelet as the tests of nodes need: it joins, renews its Lease
 * and its Ready condition, and falls silent when its server goes. The suite asks over HTTP for
 * machines to be deleted and created again.
 */
export class Machines {
  readonly #world: World;
  readonly #names = new Map<string, Server>();
  readonly #stopping = new AbortController();
  readonly #beating: Promise<void>[] = [];
  #http: HttpServer | undefined;
  #made = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Where the suite may ask; all servers of the world have joined. */
  async start(): Promise<string> {
    for (const server of this.#world.infrastructure.servers) await this.#join(server);
    const http = createServer((request, response) => {
      this.#answer(request).then(
        (names) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(names)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    this.#http = http;
    await new Promise<void>((done) => http.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#beating);
    this.#http?.closeAllConnections();
    this.#http?.close();
  }

  async #answer({ method, url }: IncomingMessage): Promise<string[]> {
    const { pathname, searchParams } = new URL(url ?? "/", "http://machines");
    if (method === "DELETE") await this.#remove(pathname.slice(1));
    if (method === "PUT") await this.resize(Number(searchParams.get("size")));
    return [...this.#names.keys()];
  }

  /** The group with that many machines, each of which has joined. */
  async resize(size: number): Promise<void> {
    while (this.#names.size < size) await this.#add();
    while (this.#names.size > size) await this.#remove([...this.#names.keys()].at(-1) ?? "");
  }

  /** Waits until the API has just the group's nodes, each initialised. */
  async settled(): Promise<void> {
    await this.#world.until("just the group's nodes", async () => {
      const { items } = await this.#world.client.list(Node);
      const isWhole = items.length === this.#names.size && items.every((node) => isInitialised(node));
      return isWhole ? true : undefined;
    });
  }

  /** As a user deletes a server: the kubelet on it is gone with it. */
  async #remove(name: string): Promise<void> {
    const server = this.#names.get(name);
    if (!server) throw new Error(`there is no machine ${name}`);
    this.#names.delete(name);
    await this.#world.cloud.compute.servers.delete(server.id);
  }

  async #add(): Promise<void> {
    const { compute, image } = this.#world.cloud;
    const [flavor] = await compute.flavors.all();
    const [cirros] = await image.images.all({ name: "cirros" });
    const { id } = await compute.servers.create({
      name: `e2e-more-${(this.#made += 1)}`,
      flavorRef: flavor?.id ?? "",
      imageRef: cirros?.id ?? "",
      networks: [{ uuid: this.#world.infrastructure.subnet.network_id }],
    });
    await this.#join(await this.#world.until("a server", async () => active(await compute.servers.find(id))));
  }

  async #join(server: Server): Promise<void> {
    await this.#world.join(server);
    this.#names.set(server.name, server);
    this.#beating.push(this.#beat(server.name));
  }

  async #beat(name: string): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#names.has(name) && !signal.aborted) {
      await this.#renew(name).catch((error: unknown) => console.error(`the kubelet of ${name}: ${String(error)}`));
      await systemClock.sleep(HEARTBEAT, signal).catch(() => {});
    }
  }

  async #renew(name: string): Promise<void> {
    const { client } = this.#world;
    const now = new Date().toISOString();
    const node = await client.find(Node, { namespace: "", name });
    if (!node) return;
    const ready = { type: "Ready", status: "True", reason: "KubeletReady", lastHeartbeatTime: now };
    const body = { status: { conditions: [ready] } };
    const key = { namespace: "", name };
    await client.patch(Node, key, { type: "strategic", body }, { subresource: "status" });
    const spec = { holderIdentity: name, leaseDurationSeconds: LEASE, renewTime: now.replace("Z", "000Z") };
    const lease = { namespace: "kube-node-lease", name };
    if (await client.find(Lease, lease)) {
      await client.patch(Lease, lease, { type: "merge", body: { spec } });
      return;
    }
    const owner = { apiVersion: "v1", kind: "Node", name, uid: node.metadata.uid ?? "" };
    const metadata = { ...lease, ownerReferences: [owner] };
    await client.create(Lease, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec });
  }
}

function isInitialised({ spec }: Node): boolean {
  return spec?.providerID !== undefined && (spec.taints ?? []).length === 0;
}

function active(server: Server | undefined): Server | undefined {
  return server?.status === "ACTIVE" ? server : undefined;
}
