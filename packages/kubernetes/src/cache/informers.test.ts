import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { createClient } from "../client/client.ts";
import { json, listOf, openWatch, refuse, ScriptedServer, type SeenRequest } from "../testing/scripted-server.ts";
import { metadataOf, type KubeObject, type ResourceType } from "../types/meta.ts";
import { createInformers } from "./informers.ts";
import type { Change, Informers } from "./interface.ts";

interface Thing extends KubeObject {
  data?: Record<string, string>;
}
const Thing: ResourceType<Thing> = { group: "", version: "v1", kind: "Thing", plural: "things", namespaced: true };

function wire(name: string, revision: number, more: Partial<KubeObject["metadata"]> = {}): object {
  const metadata = { name, namespace: "n", uid: `uid-${name}`, resourceVersion: String(revision), ...more };
  return { metadata, data: { revision: String(revision) } };
}

const event = (name: string, revision: number): object => ({
  apiVersion: "v1",
  kind: "Thing",
  ...wire(name, revision),
});
const key = (name: string) => ({ namespace: "n", name });

/** A server whose lists and watches a test answers one after the other. */
class World {
  readonly lists: ((response: ServerResponse) => void)[] = [];
  readonly watches: ((send: (type: string, object: unknown) => void, response: ServerResponse) => void)[] = [];
  readonly asked: SeenRequest[] = [];

  readonly answer = (request: SeenRequest, response: ServerResponse): void => {
    this.asked.push(request);
    if (request.query.get("watch") === "true") {
      const next = this.watches.shift();
      const send = openWatch(response);
      next?.(send, response);
    } else {
      const next = this.lists.shift();
      if (next) next(response);
      else refuse(response, 500, "InternalError", "no list was scripted");
    }
  };
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 24_000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(condition()).toBe(true);
}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function start(world: World): Promise<Informers> {
  const server = await ScriptedServer.start(world.answer);
  const client = createClient({ server: server.url });
  const informers = createInformers(client);
  const stop = new AbortController();
  const running = informers.run(stop.signal);
  ends.push(async () => {
    stop.abort();
    await running;
    await client.close();
    await server.stop();
  });
  return informers;
}

describe("an informer", () => {
  test("lists again when all is to be listed, also while its first list is under way, and has what came meanwhile", async () => {
    const world = new World();
    // The first never gets a response.
    world.lists.push(() => {});
    world.lists.push((response) => json(response, listOf("Thing", "5", [wire("a", 3)])));
    const informers = await start(world);
    const things = informers.for(Thing);
    await until(() => world.asked.length === 1);
    await informers.relist();
    expect(things.list().map(({ metadata }) => metadata.name)).toEqual(["a"]);
    await until(() => world.asked.length === 3);
    world.lists.push((response) => json(response, listOf("Thing", "9", [wire("b", 8)])));
    await informers.relist();
    expect(things.list().map(({ metadata }) => metadata.name)).toEqual(["b"]);
    const verbs = world.asked.slice(0, 4).map(({ query }) => (query.get("watch") === "true" ? "watch" : "list"));
    expect(verbs).toEqual(["list", "list", "watch", "list"]);
  });

  test("lists once, then follows the watch", async () => {
    const world = new World();
    world.lists.push((response) =>
      json(response, listOf("Thing", "5", [wire("a", 3, { managedFields: [{ manager: "x" }] }), wire("b", 4)])),
    );
    world.watches.push((send) => {
      send("ADDED", event("c", 6));
      send("MODIFIED", event("a", 7));
      send("DELETED", event("b", 8));
      send("BOOKMARK", { kind: "Thing", apiVersion: "v1", metadata: { resourceVersion: "9" } });
    });
    const informers = await start(world);
    const informer = informers.for(Thing);
    const changes: string[] = [];
    informer.onChange((change: Change<Thing>) => changes.push(`${change.type} ${change.object.metadata.name}`));
    await informer.whenSynced();
    expect(informer.get(key("a"))?.metadata.managedFields).toBeUndefined();
    await until(() => changes.length === 5);
    expect(changes).toEqual(["added a", "added b", "added c", "updated a", "deleted b"]);
    expect(informer.get(key("a"))).toMatchObject({ kind: "Thing", apiVersion: "v1", data: { revision: "7" } });
    expect(informers.for(Thing)).toBe(informer);
    expect(world.asked).toHaveLength(2);
  });

  test("of metadata requests and keeps metadata only, also when the server or a write brings whole objects", async () => {
    const world = new World();
    const partial = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
    world.lists.push((response) =>
      json(response, listOf("PartialObjectMetadata", "5", [{ ...partial, ...wire("a", 3) }])),
    );
    world.watches.push((send) => send("ADDED", event("b", 6)));
    const informers = await start(world);
    const informer = informers.for(metadataOf(Thing));
    expect(informers.for(metadataOf(Thing))).toBe(informer);
    await until(() => informer.list().length === 2);
    expect(informers.for(Thing)).not.toBe(informer);
    informer.observe(event("c", 7) as KubeObject);
    expect(informer.list().map((object) => Object.keys(object))).toEqual([
      ["apiVersion", "kind", "metadata"],
      ["apiVersion", "kind", "metadata"],
      ["apiVersion", "kind", "metadata"],
    ]);
    expect(informer.get(key("a"))).toMatchObject({ apiVersion: "v1", kind: "Thing" });
    const accepted = world.asked.map(({ headers }) => headers.accept).filter((text) => text !== "application/json");
    expect(new Set(accepted)).toEqual(
      new Set([
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
      ]),
    );
  });

  test("resumes a broken watch where it was, without listing again", async () => {
    const world = new World();
    world.lists.push((response) => json(response, listOf("Thing", "5", [])));
    world.watches.push(
      (send, response) => {
        send("ADDED", event("a", 6));
        send("BOOKMARK", { kind: "Thing", metadata: { resourceVersion: "10" } });
        setTimeout(() => response.destroy(), 20);
      },
      (send) => send("ADDED", event("b", 11)),
    );
    const informer = (await start(world)).for(Thing);
    await until(() => informer.get(key("b")) !== undefined);
    expect(world.asked.map((request) => request.query.get("resourceVersion"))).toEqual([null, "5", "10"]);
  });

  test("lists again after a 410, and finds what was deleted meanwhile", async () => {
    const world = new World();
    world.lists.push(
      (response) => json(response, listOf("Thing", "5", [wire("a", 3), wire("b", 4)])),
      (response) => json(response, listOf("Thing", "20", [wire("b", 4), wire("c", 19)])),
    );
    world.watches.push((send) => send("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old" }));
    const informer = (await start(world)).for(Thing);
    const changes: string[] = [];
    informer.onChange((change) => changes.push(`${change.type} ${change.object.metadata.name}`));
    await until(() => changes.length === 4);
    expect(changes).toEqual(["added a", "added b", "deleted a", "added c"]);
  });

  test("waits quietly for a type that the server does not serve yet", async () => {
    const world = new World();
    world.lists.push(
      (response) => response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found"),
      (response) => json(response, listOf("Thing", "5", [wire("a", 3)])),
    );
    const informer = (await start(world)).for(Thing);
    expect(informer.synced).toBe(false);
    await informer.whenSynced();
    expect(informer.list()).toHaveLength(1);
  });

  test("returns our own writes before the watch reports them", async () => {
    const world = new World();
    world.lists.push((response) => json(response, listOf("Thing", "5", [])));
    const informers = await start(world);
    const informer = informers.for(Thing);
    const selected = informers.for(Thing, { labelSelector: "team=red" });
    world.lists.push((response) => json(response, listOf("Thing", "5", [])));
    await informers.whenSynced();
    world.lists.push((response) => json(response, event("a", 6), 201));
    await informers.client.create(Thing, { apiVersion: "v1", kind: "Thing", metadata: { name: "a", namespace: "n" } });
    expect(informer.get(key("a"))?.metadata.resourceVersion).toBe("6");
    expect(selected.list()).toEqual([]);
  });

  test("shows that a write of ours has removed the last finalizer before the watch reports the deletion", async () => {
    const world = new World();
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const held = wire("a", 3, { deletionTimestamp, finalizers: ["example.com/hold"] });
    world.lists.push((response) => json(response, listOf("Thing", "5", [held])));
    const informers = await start(world);
    const informer = informers.for(Thing);
    await informers.whenSynced();
    expect(informer.get(key("a"))?.metadata.finalizers).toHaveLength(1);
    world.lists.push((response) =>
      json(response, { apiVersion: "v1", kind: "Thing", ...wire("a", 3, { deletionTimestamp }) }),
    );
    await informers.client.patch(Thing, key("a"), { type: "merge", body: { metadata: { finalizers: null } } });
    expect(informer.get(key("a"))?.metadata).not.toHaveProperty("finalizers");
  });
});
