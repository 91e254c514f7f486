import { expect } from "vitest";
import {
  addFinalizer,
  ConfigMap,
  createEventRecorder,
  createInformers,
  electLeader,
  Event,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  publishStatus,
  removeFinalizer,
  type Condition,
  type Resource,
  type ResourceType,
} from "@causeway/kubernetes";
import type { CaseGroup } from "../interface.ts";
import { widget, GROUP } from "./custom-resource.ts";
import { eventually } from "./shorthands.ts";

type Widget = Resource<{ size: string; replicas?: number }, { phase?: string; conditions?: Partial<Condition>[] }>;

const Widgets: ResourceType<Widget> = {
  group: GROUP,
  version: "v1",
  plural: "widgets",
  kind: "Widget",
  namespaced: true,
};

function map(name: string, namespace: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data };
}

export const toolkit: CaseGroup = {
  title: "the client of @causeway/kubernetes",
  cases: [
    {
      name: "predicates distinguish the errors of the client",
      async run({ client, namespace }) {
        const kube = await client();
        await kube.create(ConfigMap, map("a", namespace));
        const caught = (work: Promise<unknown>): Promise<unknown> =>
          work.then(
            () => undefined,
            (error: unknown) => error,
          );
        expect(isAlreadyExists(await caught(kube.create(ConfigMap, map("a", namespace))))).toBe(true);
        expect(isNotFound(await caught(kube.get(ConfigMap, { name: "b", namespace })))).toBe(true);
        expect(isInvalid(await caught(kube.create(ConfigMap, map("A", namespace))))).toBe(true);
        const old = await kube.get(ConfigMap, { name: "a", namespace });
        await kube.update(ConfigMap, { ...old, data: { a: "1" } });
        expect(isConflict(await caught(kube.update(ConfigMap, { ...old, data: { a: "2" } })))).toBe(true);
        const unprivileged = await client({ user: "unprivileged" });
        expect(isForbidden(await caught(unprivileged.list(ConfigMap, { namespace })))).toBe(true);
        expect(await kube.find(ConfigMap, { name: "b", namespace })).toBeUndefined();
        await kube.delete(ConfigMap, { name: "b", namespace });
      },
    },
    {
      name: "lists and watches as an informer, and finds what it wrote at once",
      async run({ client, namespace }) {
        const informers = createInformers(await client());
        const maps = informers.for(ConfigMap, { namespace });
        const seen: string[] = [];
        maps.onChange(({ type, object }) => {
          if (object.metadata.name.startsWith("m")) seen.push(`${type} ${object.metadata.name}`);
        });
        const stop = new AbortController();
        const running = informers.run(stop.signal);
        await maps.whenSynced(stop.signal);
        await informers.client.create(ConfigMap, map("m", namespace));
        const cached = maps.get({ name: "m", namespace });
        expect(cached).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
        await informers.client.patch(
          ConfigMap,
          { name: "m", namespace },
          { type: "merge", body: { data: { a: "1" } } },
        );
        await informers.client.delete(ConfigMap, { name: "m", namespace });
        await eventually(async () => (seen.length === 3 ? true : undefined), "three changes");
        stop.abort();
        await running;
        expect(seen).toEqual(["added m", "updated m", "deleted m"]);
      },
    },
    {
      name: "an informer's listed objects say what they are, as watched ones do",
      async run({ client, namespace }) {
        const kube = await client();
        await kube.create(ConfigMap, map("m", namespace));
        const { items } = await kube.list(ConfigMap, { namespace });
        expect(items[0]).toMatchObject({ apiVersion: "v1", kind: "ConfigMap" });
      },
    },
    {
      name: "the client adds and removes finalizers",
      async run({ client, namespace }) {
        const kube = await client();
        const made = await kube.create(ConfigMap, map("a", namespace));
        const held = await addFinalizer(kube, ConfigMap, made, { finalizer: "example.com/hold" });
        expect(held.metadata.finalizers).toEqual(["example.com/hold"]);
        await kube.delete(ConfigMap, { name: "a", namespace });
        const dying = await kube.get(ConfigMap, { name: "a", namespace });
        expect(dying.metadata.deletionTimestamp).toEqual(expect.any(String));
        await removeFinalizer(kube, ConfigMap, dying, { finalizer: "example.com/hold" });
        expect(await kube.find(ConfigMap, { name: "a", namespace })).toBeUndefined();
      },
    },
    {
      name: "publishStatus applies the status and removes fields that it no longer publishes",
      async run({ client, namespace }) {
        const kube = await client();
        const made = await kube.create(Widgets, {
          ...(widget("a") as unknown as Widget),
          metadata: { name: "a", namespace },
        });
        const ready = { type: "Ready", status: "True", reason: "Done" };
        const first = await publishStatus(kube, Widgets, made, {
          status: { phase: "On", conditions: [ready] },
          fieldManager: "publisher",
        });
        expect(first.status).toEqual({ phase: "On", conditions: [ready] });
        const second = await publishStatus(kube, Widgets, first, {
          status: { phase: "Off" },
          fieldManager: "publisher",
        });
        expect(second.status).toEqual({ phase: "Off" });
      },
    },
    {
      name: "elects one leader, and another when that one ends",
      async run({ client, namespace }) {
        const kube = await client();
        const order: string[] = [];
        const stand = (identity: string): Promise<void> =>
          electLeader(
            {
              client: kube,
              namespace,
              name: "leader",
              identity,
              leaseDuration: 1500,
              renewDeadline: 1000,
              retryPeriod: 50,
              onLeading: async () => {
                order.push(`${identity} leads`);
                await new Promise((resolve) => setTimeout(resolve, 150));
                order.push(`${identity} ends`);
              },
            },
            AbortSignal.timeout(10_000),
          );
        await Promise.all([stand("a"), stand("b")]);
        expect(order).toHaveLength(4);
        expect(order[0]?.[0]).toBe(order[1]?.[0]);
        expect(order[2]?.[0]).toBe(order[3]?.[0]);
      },
    },
    {
      name: "records events, and counts repeats up",
      async run({ client, namespace }) {
        const kube = await client();
        const about = await kube.create(ConfigMap, map("a", namespace));
        const recorder = createEventRecorder(kube, { component: "case" });
        for (let i = 0; i < 2; i += 1) {
          recorder.event(about, { type: "Normal", reason: "Happened", message: "It happened." });
          await recorder.flush();
        }
        const { items } = await kube.list(Event, { namespace, fieldSelector: "involvedObject.name=a" });
        expect(items).toHaveLength(1);
        expect(items[0]).toMatchObject({ reason: "Happened", count: 2 });
      },
    },
  ],
};
